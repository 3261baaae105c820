/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files of struct store share: store.c keeps objects, store_open.c recognizes and opens
 * files, store_sweep.c closes what no process maps, store_tickets.c has the tickets.
 */
#pragma once

#include "base/shares.h"
#include "object/aliases.h"
#include "object/store.h"
#include "object/tickets.h"

#include <pthread.h>

/* Hashed and compared as bytes, so unused bytes are zero. */
struct identity_of_file {
	uint64_t root_device, root_inode, mount_space, user_space, owner, size, head;
	char build_id[2 * MAX_BUILD_ID_BYTES + 1];
};

struct entry {
	uint32_t id;
	struct object *object;
	struct identity_of_file identity;
	struct stamp seen; /* stamp of the file that is held open, at seen_ns */
	uint64_t seen_ns, used_ns;
	uint64_t round; /* number of the last sweep in which it was mapped */
	bool is_sampled;
	struct entry *prev, *next;  /* by use, the least recently used first */
	UT_hash_handle hh;          /* by id */
	UT_hash_handle hh_identity; /* by identity, when it has a build ID */
};

struct store {
	uint64_t held_ns;     /* the time set by store_hold_time(), or 0; atomic */
	pthread_mutex_t lock; /* everything below */
	size_t max_objects;
	uint32_t last_id;
	uint64_t round;       /* number of the current sweep */
	struct shares shares; /* of max_objects */
	struct entry *by_id, *by_identity, *by_use;
	struct aliases aliases;
	struct tickets tickets;
	struct store_stats stats;
};

static inline void unlockp(pthread_mutex_t **lock)
{
	pthread_mutex_unlock(*lock);
}

static inline pthread_mutex_t *lock_store(struct store *store)
{
	pthread_mutex_lock(&store->lock);
	return &store->lock;
}

/* Holds the lock until the end of the block. */
#define LOCKED(store) \
	_cleanup_(unlockp) __attribute__((unused)) pthread_mutex_t *locked = lock_store(store)

/* The time of store_hold_time(), else the clock's. */
uint64_t store_now(const struct store *store);

/* All under the lock. store_find() counts as a use, and returns NULL when the object was closed.
 * store_add() takes ownership of the reference, and returns the entry of the object, or of a copy
 * of it; NULL: no room, or out of memory. store_drop() removes the entry and releases its
 * reference. */
struct entry *store_find(struct store *store, uint32_t id);
struct entry *store_add(struct store *store, struct object *object);
void store_drop(struct store *store, struct entry *entry);
