/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The tables of open objects. A file is recognized three ways, each cheaper than the next: by the
 * key the kernel names it with (nothing is opened), by what fstat() says (it is not parsed), by its
 * build ID (it is not kept twice). The first two are aliases of an object's id; an alias whose
 * object was evicted is simply stale. A key is believed while the file that is held open, whose
 * inode nobody else can get meanwhile, has not changed: who writes into it makes it another one.
 * How a file is reached is object/reach.c's.
 */
#include "object/store.h"
#include "object/reach.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* Without memory for a table an entry is left out; the file is then opened again next time. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>
#include <utlist.h>

enum {
	ALIASES_PER_OBJECT = 4, /* several mounts and keys of one file, and files that are no ELF */
	NO_OBJECT = 0,          /* the id under which a file that is no ELF is remembered */
};

enum alias_kind { ALIAS_KEY = 1, ALIAS_FILE, ALIAS_VDSO };

/* Only 64-bit words, because it is hashed and compared as bytes. */
struct alias_name {
	uint64_t kind, words[5];
};

/* When a file was what it is. */
struct stamp {
	uint64_t device, inode, size, mtime_ns, ctime_ns;
};

struct alias {
	struct alias_name name;
	uint32_t id;
	struct stamp stamp; /* of the file, which need not be the object's: that may be a copy */
	UT_hash_handle hh;
};

struct entry {
	uint32_t id;
	struct object *object;
	struct entry *prev, *next; /* by use, the longest ago first */
	UT_hash_handle hh;         /* by id */
	UT_hash_handle hh_build;   /* by build ID, when it has one */
};

struct store {
	pthread_mutex_t lock; /* everything below */
	size_t max_objects;
	uint32_t last_id;
	struct entry *by_id, *by_build_id, *by_use;
	struct alias *aliases; /* uthash keeps the order in which they came */
	struct store_stats stats;
};

static void unlockp(pthread_mutex_t **lock)
{
	pthread_mutex_unlock(*lock);
}

static pthread_mutex_t *lock_store(struct store *store)
{
	pthread_mutex_lock(&store->lock);
	return &store->lock;
}

/* Until the end of the block. */
#define LOCKED(store) \
	_cleanup_(unlockp) __attribute__((unused)) pthread_mutex_t *locked = lock_store(store)

struct store *store_new(size_t max_objects)
{
	struct store *store = calloc(1, sizeof(*store));

	if (!store)
		return NULL;
	if (pthread_mutex_init(&store->lock, NULL)) {
		free(store);
		return NULL;
	}
	store->max_objects = max_objects ? max_objects : 1;
	return store;
}

static void drop_entry(struct store *store, struct entry *entry)
{
	if (entry->hh_build.tbl)
		HASH_DELETE(hh_build, store->by_build_id, entry);
	if (entry->hh.tbl)
		HASH_DELETE(hh, store->by_id, entry);
	DL_DELETE(store->by_use, entry);
	object_unref(entry->object);
	free(entry);
	store->stats.objects--;
}

static void drop_alias(struct store *store, struct alias *alias)
{
	HASH_DELETE(hh, store->aliases, alias);
	free(alias);
}

void store_free(struct store *store)
{
	if (!store)
		return;
	while (store->aliases)
		drop_alias(store, store->aliases);
	while (store->by_use)
		drop_entry(store, store->by_use);
	pthread_mutex_destroy(&store->lock);
	free(store);
}

static struct entry *find_entry(struct store *store, uint32_t id)
{
	struct entry *entry;

	HASH_FIND(hh, store->by_id, &id, sizeof(id), entry);
	if (entry) {
		DL_DELETE(store->by_use, entry);
		DL_APPEND(store->by_use, entry);
	}
	return entry;
}

/* True when the answer is known: an object, or NULL for a file that is no ELF. */
static bool find_alias(struct store *store, const struct alias_name *name,
                       const struct object **ret_object, struct stamp *ret_stamp)
{
	struct alias *alias;

	if (!name->kind)
		return false;
	HASH_FIND(hh, store->aliases, name, sizeof(*name), alias);
	if (!alias)
		return false;
	struct entry *entry = alias->id == NO_OBJECT ? NULL : find_entry(store, alias->id);
	if (alias->id != NO_OBJECT && !entry) {
		drop_alias(store, alias);
		return false;
	}
	*ret_object = entry ? entry->object : NULL;
	*ret_stamp = alias->stamp;
	return true;
}

static void add_alias(struct store *store, const struct alias_name *name, uint32_t id,
                      const struct stamp *stamp)
{
	struct alias *alias;

	if (!name->kind)
		return;
	HASH_FIND(hh, store->aliases, name, sizeof(*name), alias);
	if (alias) {
		alias->id = id;
		alias->stamp = *stamp;
		return;
	}
	if (HASH_COUNT(store->aliases) >= ALIASES_PER_OBJECT * store->max_objects)
		drop_alias(store, store->aliases);
	alias = calloc(1, sizeof(*alias));
	if (!alias)
		return;
	alias->name = *name;
	alias->id = id;
	alias->stamp = *stamp;
	HASH_ADD(hh, store->aliases, name, sizeof(alias->name), alias);
	if (!alias->hh.tbl)
		free(alias);
}

/* Takes over the reference; the object's entry, or the one of the same build ID and owner that was
 * there. */
static struct entry *add_object(struct store *store, struct object *object)
{
	_cleanup_(object_unrefp) struct object *owned = object;
	size_t build_len = strlen(object->build_id);
	struct entry *entry = NULL;

	if (build_len)
		HASH_FIND(hh_build, store->by_build_id, object->build_id, build_len, entry);
	if (entry && entry->object->owner == owned->owner)
		return find_entry(store, entry->id);
	bool first = build_len && !entry;

	while (store->by_use && store->stats.objects >= store->max_objects) {
		drop_entry(store, store->by_use);
		store->stats.evicted++;
	}
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->id = owned->id = ++store->last_id;
	HASH_ADD(hh, store->by_id, id, sizeof(entry->id), entry);
	if (!entry->hh.tbl) {
		free(entry);
		return NULL;
	}
	entry->object = TAKE_PTR(owned);
	if (first)
		HASH_ADD_KEYPTR(hh_build, store->by_build_id, object->build_id, build_len, entry);
	DL_APPEND(store->by_use, entry);
	store->stats.objects++;
	store->stats.opened++;
	return entry;
}

/* What a file is known by: the key and its inode's contents, either of which may not be known. */
struct names {
	struct alias_name key, file;
	struct stamp stamp;
};

/* What both ways of opening end in: `object`, or why there is none, under its aliases. */
static const struct object *remember(struct store *store, int err, struct object *object,
                                     const struct names *names)
{
	LOCKED(store);

	if (!object) {
		store->stats.open_failed++;
		/* Any other failure may be over the next time somebody maps it. */
		if (err == -ENOEXEC) {
			add_alias(store, &names->key, NO_OBJECT, &names->stamp);
			add_alias(store, &names->file, NO_OBJECT, &names->stamp);
		}
		return NULL;
	}
	struct entry *entry = add_object(store, object);
	if (!entry)
		return NULL;
	add_alias(store, &names->key, entry->id, &names->stamp);
	add_alias(store, &names->file, entry->id, &names->stamp);
	return entry->object;
}

static struct alias_name key_alias(const struct file_key *key)
{
	return (struct alias_name){
		.kind = key->inode ? ALIAS_KEY : 0,
		.words = {key->major, key->minor, key->inode, key->generation},
	};
}

/* What is known already: no file system is asked to look again. */
static int read_stamp(int fd, struct stamp *ret_stamp)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &st) < 0)
		return -errno;
	*ret_stamp = (struct stamp){
		.device = makedev(st.stx_dev_major, st.stx_dev_minor),
		.inode = st.stx_ino,
		.size = st.stx_size,
		.mtime_ns = (uint64_t)st.stx_mtime.tv_sec * NSEC_PER_SEC + st.stx_mtime.tv_nsec,
		.ctime_ns = (uint64_t)st.stx_ctime.tv_sec * NSEC_PER_SEC + st.stx_ctime.tv_nsec,
	};
	return 0;
}

static struct alias_name file_alias(const struct stamp *stamp)
{
	return (struct alias_name){
		.kind = ALIAS_FILE,
		.words = {stamp->device, stamp->inode, stamp->size, stamp->mtime_ns,
	                  stamp->ctime_ns},
	};
}

static bool is_known(struct store *store, const struct alias_name *name,
                     const struct object **ret_object, struct stamp *ret_stamp)
{
	LOCKED(store);

	return find_alias(store, name, ret_object, ret_stamp);
}

/* The same file under a key that was not seen before. */
static bool is_known_file(struct store *store, const struct names *names,
                          const struct object **ret_object)
{
	struct stamp before;
	LOCKED(store);

	if (!find_alias(store, &names->file, ret_object, &before))
		return false;
	add_alias(store, &names->key, *ret_object ? (*ret_object)->id : NO_OBJECT, &names->stamp);
	return true;
}

enum belief {
	BELIEF_NONE,
	BELIEF_WEAK, /* names, links or rights of the file have changed, or its contents by stealth
	              */
	BELIEF_FULL,
};

/* Whether a key still means what it meant. */
static enum belief believe(const struct file_key *key, const struct object *object,
                           const struct stamp *stamp)
{
	struct stamp now;

	/* Without a generation the inode of a file that is not held open may be another's by now.
	 */
	if (!object || read_stamp(object->fd, &now) || now.device != stamp->device ||
	    now.inode != stamp->inode)
		return key->generation ? BELIEF_FULL : BELIEF_NONE;
	if (now.size != stamp->size || now.mtime_ns != stamp->mtime_ns)
		return BELIEF_NONE;
	return now.ctime_ns == stamp->ctime_ns ? BELIEF_FULL : BELIEF_WEAK;
}

static const struct object *open_vdso(struct store *store)
{
	const struct names names = {.key = {.kind = ALIAS_VDSO}};
	const struct object *known;
	struct object *object = NULL;
	struct stamp stamp;

	if (is_known(store, &names.key, &known, &stamp))
		return known;
	int err = reach_vdso(&object);
	return remember(store, err, object, &names);
}

static const struct object *open_file(struct store *store, const struct place *place,
                                      const struct alias_name *key, const struct object *otherwise)
{
	_cleanup_close_ int fd = reach_open(place);
	struct names names = {.key = *key};
	int err = fd < 0 ? fd : read_stamp(fd, &names.stamp);
	const struct object *known;
	struct object *object = NULL;
	char shown[MAX_PATH_BYTES];

	if (err < 0)
		return otherwise ?: remember(store, err, NULL, &names);
	names.file = file_alias(&names.stamp);
	if (is_known_file(store, &names, &known))
		return known;
	reach_path(place->path, shown);
	err = object_open_fd(TAKE_FD(fd), shown, &object);
	if (err == 0) {
		object->pid = place->pid;
		object->root = reach_root_id(place->pid);
	}
	return remember(store, err, object, &names);
}

const struct object *store_open(struct store *store, const struct file_key *key, uint32_t pid,
                                uint64_t start, uint64_t end, const char *path)
{
	const struct place place = {
		.pid = pid, .start = start, .end = end, .inode = key->inode, .path = path};
	const struct alias_name by_key = key_alias(key);
	enum belief belief = BELIEF_NONE;
	const struct object *known;
	struct stamp stamp;

	if (!strcmp(path, "[vdso]"))
		return open_vdso(store);
	if (!reach_is_file(path))
		return NULL;
	if (is_known(store, &by_key, &known, &stamp))
		belief = believe(key, known, &stamp);
	if (belief == BELIEF_FULL)
		return known;
	return open_file(store, &place, &by_key, belief == BELIEF_WEAK ? known : NULL);
}

struct object *store_get(struct store *store, uint32_t id)
{
	LOCKED(store);
	struct entry *entry = find_entry(store, id);

	return entry ? object_ref(entry->object) : NULL;
}

void store_get_stats(struct store *store, struct store_stats *ret_stats)
{
	LOCKED(store);

	*ret_stats = store->stats;
}
