/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct store - all open objects: one for each file, however many processes map it, and one for
 * all copies of a file. Bounded, with a share for each user: when a user's share is full, that
 * user's least recently used object is closed. Its addresses keep the name of the file but lose the
 * names of functions. Any thread; the lock is held only for look-ups in tables, never while a file
 * is read.
 */
#pragma once

#include "object/object.h"
#include "object/reach.h"

struct store;

/* A file as a side-band record or /proc/PID/maps identifies it. */
struct file_key {
	uint32_t major, minor;
	uint64_t inode, generation; /* generation 0: unknown */
};

struct store_stats {
	uint64_t objects, opened, open_failed, evicted, unmapped;
	uint64_t samples_refused; /* files sampled before they were open, without room for that */
};

struct store *store_new(size_t max_objects);
size_t store_max_objects(const struct store *store); /* of all users */
void store_free(struct store *store);
DEFINE_CLEANUP(struct store *, store_free)

/* Sets the time that the store uses until the next call; 0: the store reads the clock each time.
 * Meant for many look-ups in a row, all for events before `now_ns`: on some hosts reading the clock
 * is a system call. */
void store_hold_time(struct store *store, uint64_t now_ns);
/* Whether the store knows what a key stands for: the id of an object, or 0 for a file that is no
 * ELF file and for memory that is no file. Opens no file; the vdso is read from the daemon's
 * memory. The key of a file that is held open is known as long as the file has not changed. */
bool store_knows(struct store *store, const struct file_key *key, const char *path,
                 uint32_t *ret_id);
/* The same, but opens a file that is not known: through /proc/PID/map_files, which also works for
 * deleted files and for files of containers, else through /proc/PID/root, else by its path. Waits
 * for the file system. *ret_id is 0 when the file cannot be opened, or is no ELF file; the latter
 * is remembered for a while. 0; -EAGAIN: it cannot be opened now, because the daemon is short of
 * descriptors or memory. */
int store_open(struct store *store, const struct file_key *key, const struct place *place,
               uint32_t *ret_id);
/* Returns a reference, or NULL when the object was closed. */
struct object *store_get(struct store *store, uint32_t id);
/* Whether the object is open. Does not count as a use of it. */
bool store_has(struct store *store, uint32_t id);
/* The same for an object that has samples. It is kept when no process maps it any more, because its
 * names may still be asked for. */
struct object *store_get_sampled(struct store *store, uint32_t id);
/* A ticket stands for a file while the file is being opened. A ticket is never the id of an object:
 * store_get() finds none for it. */
static inline bool store_is_ticket(uint32_t id)
{
	return id >> 31;
}
/* To be called when a file begins to be opened for a user, and gets that ticket. */
void store_begin_ticket(struct store *store, uint32_t ticket, uint32_t user);
/* To be called when a file with a ticket was sampled. If there is room, the store then keeps the
 * result of the ticket and holds the file open, as store_get_sampled() does. */
void store_want_ticket(struct store *store, uint32_t ticket);
/* Sets the result of a ticket: the id of the object that was opened, or 0: it could not be
 * opened. */
void store_redeem_ticket(struct store *store, uint32_t ticket, uint32_t id);
/* Returns 0 and the object's id; -EAGAIN while the file is being opened, -ETIMEDOUT when that takes
 * long, -ENOENT when the file could not be opened or the ticket is forgotten. */
int store_find_ticket(struct store *store, uint32_t ticket, uint32_t *ret_id);
/* A sweep closes objects that no process maps, that were not used for `rest_ns`, and that have no
 * samples. Between begin and end the caller reports the objects that are mapped. `rest_ns` is
 * needed because a file is opened before it is known to be mapped. */
void store_sweep_begin(struct store *store);
void store_is_mapped(struct store *store, uint32_t id);
void store_sweep_end(struct store *store, uint64_t rest_ns);
void store_get_stats(struct store *store, struct store_stats *ret_stats);
