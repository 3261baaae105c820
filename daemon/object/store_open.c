/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Recognizes a file, or opens it. A file is recognized in three ways, each cheaper than the next:
 * by the key that the kernel gives it (nothing is opened), by the result of fstat() (the file is
 * not parsed), and by its identity (the file is not kept twice: object/store.c). The first two are
 * aliases of an object's id; an alias whose object was evicted is stale. A key is believed as long
 * as the file that is held open has not changed; no other file can get its inode meanwhile, and a
 * write makes it another file. How a file is opened is in object/reach.c.
 */
#include "object/mounts.h"
#include "object/reach.h"
#include "object/store_private.h"

#include "base/clock.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

enum {
	NO_OBJECT = 0, /* the id under which a file that is no ELF file is remembered */
	RESERVED_DESCRIPTORS = 256,
};

/* A file that is no ELF file is not held open, so profd does not notice its changes: it is looked
 * at again after this time. */
static const uint64_t believe_ns = 10 * NSEC_PER_SEC;
/* A stamp that was read this recently is still used, so a process that maps one file a thousand
 * times does not have it looked at a thousand times. Records of mappings are read with a longer
 * delay than that. */
static const uint64_t fresh_ns = NSEC_PER_MSEC;

/* What a name stands for: an object, or no object for a file that is no ELF file. */
struct known {
	uint32_t id;
	struct object *object; /* a reference */
	struct stamp stamp, seen;
	uint64_t added_ns, seen_ns;
};

static void known_release(struct known *known)
{
	object_unref(known->object);
}

static bool find_alias(struct store *store, const struct alias_name *name, struct known *ret_known)
{
	struct alias *alias = aliases_find(&store->aliases, name);

	if (!alias)
		return false;
	struct entry *entry = alias->id == NO_OBJECT ? NULL : store_find(store, alias->id);
	if (alias->id != NO_OBJECT && !entry) {
		aliases_drop(&store->aliases, alias);
		return false;
	}
	*ret_known = (struct known){
		.id = alias->id,
		.object = entry ? object_ref(entry->object) : NULL,
		.stamp = alias->stamp,
		.seen = entry ? entry->seen : (struct stamp){0},
		.added_ns = alias->added_ns,
		.seen_ns = entry ? entry->seen_ns : 0,
	};
	return true;
}

/* The names of a file: its key, and its inode with the contents' stamp. Either may be unknown.
 * `user` is charged for them. */
struct names {
	uint32_t user;
	struct alias_name key, file;
	struct stamp stamp;
};

static void add_aliases(struct store *store, const struct names *names, uint32_t id)
{
	uint64_t now_ns = store_now(store);

	aliases_add(&store->aliases, names->user, &names->key, id, &names->stamp, now_ns);
	aliases_add(&store->aliases, names->user, &names->file, id, &names->stamp, now_ns);
}

/* Ends both ways of opening: stores the id of `object`, or NO_OBJECT, under the file's names. */
static uint32_t remember(struct store *store, int err, struct object *object,
                         const struct names *names)
{
	LOCKED(store);

	if (!object) {
		/* What is short may not be so at the next try. */
		store->stats.open_failed += !mounts_is_short(err);
		/* Any other failure may be gone the next time a process maps the file. */
		if (err == -ENOEXEC)
			add_aliases(store, names, NO_OBJECT);
		return NO_OBJECT;
	}
	struct entry *entry = store_add(store, object);
	if (!entry)
		return NO_OBJECT;
	add_aliases(store, names, entry->id);
	return entry->id;
}

static struct alias_name key_alias(const struct file_key *key)
{
	return (struct alias_name){
		.kind = key->inode ? ALIAS_KEY : 0,
		.words = {key->major, key->minor, key->inode, key->generation},
	};
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

/* Recognizes a known file under a new key. */
static bool is_known_file(struct store *store, const struct names *names, uint32_t *ret_id)
{
	_cleanup_(known_release) struct known known = {0};
	LOCKED(store);

	if (!find_alias(store, &names->file, &known))
		return false;
	*ret_id = known.id;
	aliases_add(&store->aliases, names->user, &names->key, known.id, &names->stamp,
	            store_now(store));
	return true;
}

enum belief {
	BELIEF_NONE,
	/* Used if the file cannot be opened: its links, its permissions or (with the mtime set
	 * back) its contents have changed, or the object is a copy. */
	BELIEF_WEAK,
	BELIEF_FULL,
};

/* Gets the stamp of the file that is held open; it may be up to `fresh_ns` old. */
static int look_at(struct store *store, const struct known *known, struct stamp *ret_stamp)
{
	uint64_t now_ns = store_now(store);
	int err;

	*ret_stamp = known->seen;
	if (known->seen_ns && now_ns - known->seen_ns < fresh_ns)
		return 0;
	err = stamp_read(known->object->fd, ret_stamp);
	if (err < 0)
		return err;
	LOCKED(store);
	struct entry *entry = store_find(store, known->id);
	if (entry) {
		entry->seen = *ret_stamp;
		entry->seen_ns = now_ns;
	}
	return 0;
}

/* Whether a key still has the meaning that was stored. Asks no file system: see stamp_read(). */
static enum belief believe(struct store *store, const struct file_key *key,
                           const struct known *known)
{
	struct stamp now;

	if (!known->object)
		return key->generation && store_now(store) - known->added_ns < believe_ns
		               ? BELIEF_FULL
		               : BELIEF_NONE;
	/* The object is a copy of the file with this key. That file is not held open, so profd does
	 * not notice its changes. */
	if (look_at(store, known, &now) || now.device != known->stamp.device ||
	    now.inode != known->stamp.inode)
		return key->generation ? BELIEF_WEAK : BELIEF_NONE;
	if (now.size != known->stamp.size || now.mtime_ns != known->stamp.mtime_ns)
		return BELIEF_NONE;
	return now.ctime_ns == known->stamp.ctime_ns ? BELIEF_FULL : BELIEF_WEAK;
}

/* Returns what a key means, and how far that is believed. */
static enum belief find_key(struct store *store, const struct file_key *key, uint32_t *ret_id)
{
	_cleanup_(known_release) struct known known = {0};
	const struct alias_name name = key_alias(key);

	*ret_id = NO_OBJECT;
	if (!is_known(store, &name, &known))
		return BELIEF_NONE;
	*ret_id = known.id;
	return believe(store, key, &known);
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

/* Keeps some descriptors free, because the daemon could accept no client if files of other users
 * took all of them. The kernel hands out the lowest free descriptor, so its number shows how many
 * are in use. */
static int open_below_limit(const struct place *place, bool *ret_is_it)
{
	_cleanup_close_ int fd = reach_open(place, ret_is_it);
	struct rlimit limit;

	if (fd >= 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	    (rlim_t)fd + RESERVED_DESCRIPTORS >= limit.rlim_cur)
		return -EMFILE;
	return fd < 0 ? fd : TAKE_FD(fd);
}

/* Whether no other file has the key. */
static bool is_sole(const struct file_key *key, int fd)
{
	return key->generation || !kernel_file_has_doubles(fd);
}

/* *ret_id: the id to return if the file cannot be opened. */
static int open_file(struct store *store, const struct file_key *key, const struct place *place,
                     uint32_t *ret_id)
{
	bool is_it = false;
	_cleanup_close_ int fd = open_below_limit(place, &is_it);
	struct names names = {.user = place->user};
	int err = fd < 0 ? fd : stamp_read(fd, &names.stamp);
	struct object *object = NULL;
	char shown[MAX_PATH_BYTES];

	/* A file that may be another one must not be remembered under the key. */
	if (fd >= 0 && is_it && is_sole(key, fd))
		names.key = key_alias(key);
	if (err < 0 && *ret_id)
		return 0;
	if (err < 0) {
		*ret_id = remember(store, err, NULL, &names);
		return mounts_is_short(err) ? -EAGAIN : 0;
	}
	names.file = file_alias(&names.stamp);
	if (is_known_file(store, &names, ret_id))
		return 0;
	reach_path(place->path, shown);
	err = object_open_fd(TAKE_FD(fd), shown, &object);
	if (err == 0) {
		object->pid = place->pid;
		object->user = place->user;
		object->root = reach_root_id(place->pid);
		object->spaces = reach_spaces(place->pid);
	}
	*ret_id = remember(store, err, object, &names);
	return mounts_is_short(err) ? -EAGAIN : 0;
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

int store_open(struct store *store, const struct file_key *key, const struct place *place,
               uint32_t *ret_id)
{
	if (store_knows(store, key, place->path, ret_id))
		return 0;
	if (find_key(store, key, ret_id) != BELIEF_WEAK)
		*ret_id = NO_OBJECT;
	return open_file(store, key, place, ret_id);
}
