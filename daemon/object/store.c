/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The tables of open objects. A file is recognized three ways, each cheaper than the next: by the
 * key the kernel names it with (nothing is opened), by what fstat() says (it is not parsed), by its
 * identity (it is not kept twice). The first two are aliases of an object's id; an alias whose
 * object was evicted is simply stale. A key is believed while the file that is held open, whose
 * inode nobody else can get meanwhile, has not changed: writing into it makes it another file.
 * How a file is reached is object/reach.c's.
 *
 * A build ID is a hint: anybody can write any into a file. Two files are copies of one another when
 * they also have the same owner, size and first page, and were seen below the same root folder. So
 * a user, and the superuser of a container, can confuse their own files only.
 */
#include "object/store.h"
#include "object/reach.h"

#include "base/clock.h"
#include "base/shares.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
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

/* A file that is no ELF is not held open, so a change of it is not seen: it is looked at again
 * after this time. */
static const uint64_t believe_ns = 10 * NSEC_PER_SEC;

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
	uint64_t added_ns;
	UT_hash_handle hh;
};

/* Hashed and compared as bytes, so every unused one is zero. */
struct identity_of_file {
	uint64_t root_device, root_inode, owner, size, head;
	char build_id[2 * MAX_BUILD_ID_BYTES + 1];
};

struct entry {
	uint32_t id;
	struct object *object;
	struct identity_of_file identity;
	struct entry *prev, *next;  /* by use, the longest ago first */
	UT_hash_handle hh;          /* by id */
	UT_hash_handle hh_identity; /* by identity, when it has a build ID */
};

struct store {
	pthread_mutex_t lock; /* everything below */
	size_t max_objects;
	uint32_t last_id;
	struct shares shares; /* of max_objects */
	struct entry *by_id, *by_identity, *by_use;
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
	store->shares.whole = store->max_objects;
	return store;
}

static void drop_entry(struct store *store, struct entry *entry)
{
	if (entry->hh_identity.tbl)
		HASH_DELETE(hh_identity, store->by_identity, entry);
	if (entry->hh.tbl)
		HASH_DELETE(hh, store->by_id, entry);
	DL_DELETE(store->by_use, entry);
	shares_give(&store->shares, entry->object->user, 1);
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
	shares_clear(&store->shares);
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

/* What a name stands for: an object, or none for a file that is no ELF. */
struct known {
	uint32_t id;
	struct object *object; /* a reference */
	struct stamp stamp;
	uint64_t added_ns;
};

static void known_release(struct known *known)
{
	object_unref(known->object);
}

static bool find_alias(struct store *store, const struct alias_name *name, struct known *ret_known)
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
	*ret_known = (struct known){
		.id = alias->id,
		.object = entry ? object_ref(entry->object) : NULL,
		.stamp = alias->stamp,
		.added_ns = alias->added_ns,
	};
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
		alias->added_ns = clock_mono_ns();
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
	alias->added_ns = clock_mono_ns();
	HASH_ADD(hh, store->aliases, name, sizeof(alias->name), alias);
	if (!alias->hh.tbl)
		free(alias);
}

static struct identity_of_file identity_of(const struct object *object)
{
	struct identity_of_file identity;

	memset(&identity, 0, sizeof(identity));
	identity.root_device = object->root.device;
	identity.root_inode = object->root.inode;
	identity.owner = object->owner;
	identity.size = object->size;
	identity.head = object->head;
	snprintf(identity.build_id, sizeof(identity.build_id), "%s", object->build_id);
	return identity;
}

/* Closes what the user has not used for longest; false when that user has nothing open. */
static bool evict_of(struct store *store, uint32_t user)
{
	struct entry *entry;

	for (entry = store->by_use; entry; entry = entry->next) {
		if (entry->object->user != user)
			continue;
		drop_entry(store, entry);
		store->stats.evicted++;
		return true;
	}
	return false;
}

/* A user who has a share makes room there. Somebody new finds the others' shares leave some. */
static bool make_room(struct store *store, uint32_t user)
{
	while (!shares_take(&store->shares, user, 1)) {
		if (!evict_of(store, user))
			return false;
	}
	return true;
}

static struct entry *find_copy(const struct store *store, const struct identity_of_file *identity)
{
	struct entry *entry = NULL;

	if (identity->build_id[0])
		HASH_FIND(hh_identity, store->by_identity, identity, sizeof(*identity), entry);
	return entry;
}

/* Takes over the reference; the object's entry, or that of a copy. */
static struct entry *add_object(struct store *store, struct object *object)
{
	_cleanup_(object_unrefp) struct object *owned = object;
	const struct identity_of_file identity = identity_of(object);
	struct entry *entry = find_copy(store, &identity);

	if (entry)
		return find_entry(store, entry->id);
	entry = calloc(1, sizeof(*entry));
	if (!entry || !make_room(store, object->user)) {
		free(entry);
		return NULL;
	}
	entry->identity = identity;
	entry->id = owned->id = ++store->last_id;
	HASH_ADD(hh, store->by_id, id, sizeof(entry->id), entry);
	if (!entry->hh.tbl) {
		shares_give(&store->shares, object->user, 1);
		free(entry);
		return NULL;
	}
	entry->object = TAKE_PTR(owned);
	if (identity.build_id[0])
		HASH_ADD(hh_identity, store->by_identity, identity, sizeof(identity), entry);
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

/* What both ways of opening end in: the id of `object`, or NO_OBJECT, under its names. */
static uint32_t remember(struct store *store, int err, struct object *object,
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
		return NO_OBJECT;
	}
	struct entry *entry = add_object(store, object);
	if (!entry)
		return NO_OBJECT;
	add_alias(store, &names->key, entry->id, &names->stamp);
	add_alias(store, &names->file, entry->id, &names->stamp);
	return entry->id;
}

static struct alias_name key_alias(const struct file_key *key)
{
	return (struct alias_name){
		.kind = key->inode ? ALIAS_KEY : 0,
		.words = {key->major, key->minor, key->inode, key->generation},
	};
}

/* What the kernel knows already: with AT_STATX_DONT_SYNC neither FUSE nor NFS asks its server about
 * a file that is open (fuse_update_get_attr, nfs_getattr), so this never waits. */
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

static bool is_known(struct store *store, const struct alias_name *name, struct known *ret_known)
{
	LOCKED(store);

	return find_alias(store, name, ret_known);
}

/* The same file under a key that was not seen before. */
static bool is_known_file(struct store *store, const struct names *names, uint32_t *ret_id)
{
	_cleanup_(known_release) struct known known = {0};
	LOCKED(store);

	if (!find_alias(store, &names->file, &known))
		return false;
	*ret_id = known.id;
	add_alias(store, &names->key, known.id, &names->stamp);
	return true;
}

enum belief {
	BELIEF_NONE,
	BELIEF_WEAK, /* if it cannot be opened: its links, rights or, by stealth, contents have
	              * changed, or it is a copy */
	BELIEF_FULL,
};

/* Whether a key still means what it meant. Asks no file system: see read_stamp(). */
static enum belief believe(const struct file_key *key, const struct known *known)
{
	struct stamp now;

	if (!known->object)
		return key->generation && clock_mono_ns() - known->added_ns < believe_ns
		               ? BELIEF_FULL
		               : BELIEF_NONE;
	/* A copy of what is held open is not held open itself, so a change of it is not seen. */
	if (read_stamp(known->object->fd, &now) || now.device != known->stamp.device ||
	    now.inode != known->stamp.inode)
		return key->generation ? BELIEF_WEAK : BELIEF_NONE;
	if (now.size != known->stamp.size || now.mtime_ns != known->stamp.mtime_ns)
		return BELIEF_NONE;
	return now.ctime_ns == known->stamp.ctime_ns ? BELIEF_FULL : BELIEF_WEAK;
}

/* What a key means, and how much it is believed. */
static enum belief find_key(struct store *store, const struct file_key *key, uint32_t *ret_id)
{
	_cleanup_(known_release) struct known known = {0};
	const struct alias_name name = key_alias(key);

	*ret_id = NO_OBJECT;
	if (!is_known(store, &name, &known))
		return BELIEF_NONE;
	*ret_id = known.id;
	return believe(key, &known);
}

static uint32_t open_vdso(struct store *store)
{
	const struct names names = {.key = {.kind = ALIAS_VDSO}};
	_cleanup_(known_release) struct known known = {0};
	struct object *object = NULL;

	if (is_known(store, &names.key, &known))
		return known.id;
	int err = reach_vdso(&object);
	return remember(store, err, object, &names);
}

/* `otherwise`: what is believed if it cannot be opened. */
static uint32_t open_file(struct store *store, const struct file_key *key,
                          const struct place *place, uint32_t otherwise)
{
	_cleanup_close_ int fd = reach_open(place);
	struct names names = {.key = key_alias(key)};
	int err = fd < 0 ? fd : read_stamp(fd, &names.stamp);
	struct object *object = NULL;
	char shown[MAX_PATH_BYTES];
	uint32_t id;

	if (err < 0)
		return otherwise ?: remember(store, err, NULL, &names);
	names.file = file_alias(&names.stamp);
	if (is_known_file(store, &names, &id))
		return id;
	reach_path(place->path, shown);
	err = object_open_fd(TAKE_FD(fd), shown, &object);
	if (err == 0) {
		object->pid = place->pid;
		object->user = place->user;
		object->root = reach_root_id(place->pid);
	}
	return remember(store, err, object, &names);
}

bool store_knows(struct store *store, const struct file_key *key, const char *path,
                 uint32_t *ret_id)
{
	*ret_id = NO_OBJECT;
	if (!strcmp(path, "[vdso]")) {
		*ret_id = open_vdso(store);
		return true;
	}
	return !reach_is_file(path) || find_key(store, key, ret_id) == BELIEF_FULL;
}

uint32_t store_open(struct store *store, const struct file_key *key, const struct place *place)
{
	uint32_t id, otherwise;

	if (store_knows(store, key, place->path, &id))
		return id;
	if (find_key(store, key, &otherwise) != BELIEF_WEAK)
		otherwise = NO_OBJECT;
	return open_file(store, key, place, otherwise);
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
