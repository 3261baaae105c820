/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct store - all open objects: one per file however many processes map it, and one for copies
 * of it. Bounded, with a share for each user: who has no more room loses the object that was used
 * longest ago; its addresses keep their file's name but lose their functions'. Any thread; the lock
 * is held for look-ups in tables only, never while a file is read.
 */
#pragma once

#include "object/object.h"
#include "object/reach.h"

struct store;

/* A file as a side-band record or /proc/PID/maps names it. */
struct file_key {
	uint32_t major, minor;
	uint64_t inode, generation; /* generation 0: not known */
};

struct store_stats {
	uint64_t objects, opened, open_failed, evicted, unmapped;
};

struct store *store_new(size_t max_objects);
void store_free(struct store *store);
DEFINE_CLEANUP(struct store *, store_free)

/* From now on it is `now_ns`, until that is said anew; 0: the clock is read each time. For many
 * look-ups in a row, all of what was before that moment: on some hosts reading the clock is a
 * system call. */
void store_hold_time(struct store *store, uint64_t now_ns);
/* Whether it is known what a key stands for: the id of an object, or 0 when it is no ELF file or no
 * file at all. Opens nothing that belongs to others; the vdso is read from our own memory. The key
 * of a file that is held open is known while that has not changed. */
bool store_knows(struct store *store, const struct file_key *key, const char *path,
                 uint32_t *ret_id);
/* The same, and opens the file that is not known: through /proc/PID/map_files, which works for
 * deleted and containers' files as well, else /proc/PID/root, else the path itself. Waits for the
 * file system. 0 when it cannot be opened, or is no ELF file, which is remembered for a while. */
uint32_t store_open(struct store *store, const struct file_key *key, const struct place *place);
/* A reference, or NULL when it was closed. */
struct object *store_get(struct store *store, uint32_t id);
/* The same, of which there are samples: names may be asked for when nobody maps it any more. */
struct object *store_get_sampled(struct store *store, uint32_t id);
/* A ticket stands for a file while it is being opened, and is never the id of an object:
 * store_get() finds none for it. */
static inline bool store_is_ticket(uint32_t id)
{
	return id >> 31;
}
/* Something was sampled in such a file. What becomes of the ticket is then kept, if there is room,
 * and the file held open, as by store_get_sampled(). */
void store_want_ticket(struct store *store, uint32_t ticket);
/* What has become of it: the id of the object that was opened for that user, 0: of none. */
void store_redeem_ticket(struct store *store, uint32_t ticket, uint32_t user, uint32_t id);
/* 0 and the object's id; -EAGAIN while the file is being opened, -ETIMEDOUT when that takes long,
 * -ENOENT when it could not be, or is forgotten. */
int store_find_ticket(struct store *store, uint32_t ticket, uint32_t *ret_id);
/* Closes what nobody maps, has not been used for `rest_ns`, and has no samples: the caller says
 * between the two what is mapped. A file is opened before it is known to be mapped. */
void store_sweep_begin(struct store *store);
void store_is_mapped(struct store *store, uint32_t id);
void store_sweep_end(struct store *store, uint64_t rest_ns);
void store_get_stats(struct store *store, struct store_stats *ret_stats);
