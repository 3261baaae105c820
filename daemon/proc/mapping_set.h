/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct mapping_set - the executable mappings of one address space, sorted by address, never
 * overlapping: a new mapping takes the place of what it covers, as mmap does. Reference counted,
 * because a child shares its parent's after a fork; a change to a shared set makes one of its own
 * first, which shares what is not changed (proc/mapping_chunk.h). Its memory is taken from a room
 * that all processes share (proc/mapping_room.h). Loop thread only.
 */
#pragma once

#include "base/cleanup.h"
#include "object/opener.h"
#include "proc/mapping_room.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proc_mapping {
	uint64_t start, end, offset; /* offset: in the file, of `start` */
	uint32_t object;             /* id in object/store.h, a ticket of object/opener.h, or 0 */
	const char *path; /* as the process sees it, or a bracketed name; "" for anonymous memory */
};

struct mapping_set;

/* Empty, and nobody's; NULL when out of memory. `room` may be NULL. */
struct mapping_set *mapping_set_new(struct mapping_room *room);
struct mapping_set *mapping_set_ref(struct mapping_set *set);
void mapping_set_unref(struct mapping_set *set);
DEFINE_CLEANUP(struct mapping_set *, mapping_set_unref)

/* Whether to ask whose process it is and to say so by mapping_set_own(): that takes a file of /proc
 * to be read, so small sets are nobody's while there is plenty of room. */
bool mapping_set_wants_owner(const struct mapping_set *set);
void mapping_set_own(struct mapping_set *set, uint32_t user);

/* Adds a copy of `mapping`; *set may become another set. -ENOSPC over MAX_MAPPINGS, or when the
 * user's room is out; -EINVAL, -ENOMEM. */
int mapping_set_add(struct mapping_set **set, const struct proc_mapping *mapping);
/* The mapping that holds an address, or NULL. */
const struct proc_mapping *mapping_set_find(const struct mapping_set *set, uint64_t address);
size_t mapping_set_count(const struct mapping_set *set);
const struct proc_mapping *mapping_set_at(const struct mapping_set *set, size_t index);
/* The same mappings of the same objects. */
bool mapping_set_equal(const struct mapping_set *a, const struct mapping_set *b);
/* A number that no two sets of different contents ever have. */
uint64_t mapping_set_serial(const struct mapping_set *set);

/* Files that have been opened, by ticket. The round is another number each time: sets, and parts of
 * them, that thousands of processes share are looked through once in it. */
struct opened_batch {
	const struct opened *opened;
	size_t count;
	uint32_t round; /* not 0 */
};

/* Files that are being opened: whether any of these tickets is in it, or any at all; and putting
 * objects in their places, which changes the serial when any_of() was true before. Sets that share
 * mappings are asked all before the first of them is changed. */
bool mapping_set_has_tickets(const struct mapping_set *set);
bool mapping_set_has_any_of(struct mapping_set *set, const struct opened_batch *batch);
void mapping_set_replace(struct mapping_set *set, const struct opened_batch *batch);

/* The ids of the objects that it has, some more than once; nothing when it was asked in that round
 * before, as the set of another process that shares it. */
typedef void mapping_object_fn(uint32_t object, void *ctx);
void mapping_set_each_object(struct mapping_set *set, uint32_t round, mapping_object_fn *fn,
                             void *ctx);
