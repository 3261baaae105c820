/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct mapping_set - the executable mappings of one address space, sorted by address, never
 * overlapping: a new mapping replaces what it covers, as mmap does. Reference counted, because a
 * child shares its parent's set after a fork; a change to a shared set first makes a copy, which
 * shares the unchanged parts (proc/mapping_set_private.h). Its memory counts against a bound for
 * all processes (proc/mapping_room.h). Loop thread only.
 */
#pragma once

#include "base/cleanup.h"
#include "object/opener.h"
#include "proc/mapping_room.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proc_mapping {
	uint64_t start, end, offset; /* offset: of `start` in the file */
	uint32_t object;             /* id in object/store.h, a ticket of object/opener.h, or 0 */
	const char *path; /* as the process sees it, or a bracketed name; "" for anonymous memory */
};

struct mapping_set;

/* An empty set without an owner; NULL when out of memory. `room` may be NULL. */
struct mapping_set *mapping_set_new(struct mapping_room *room);
struct mapping_set *mapping_set_ref(struct mapping_set *set);
void mapping_set_unref(struct mapping_set *set);
DEFINE_CLEANUP(struct mapping_set *, mapping_set_unref)

/* Whether the caller should find the user of the process and set it with mapping_set_own(). That
 * requires reading a file of /proc, so small sets have no owner while there is plenty of room. */
bool mapping_set_wants_owner(const struct mapping_set *set);
void mapping_set_own(struct mapping_set *set, uint32_t user);

/* Adds a copy of `mapping`; *set may become another set. -ENOSPC over MAX_MAPPINGS, or when the
 * user's share of the room is used up; -EINVAL, -ENOMEM. */
int mapping_set_add(struct mapping_set **set, const struct proc_mapping *mapping);
/* The mapping that contains an address, or NULL. */
const struct proc_mapping *mapping_set_find(const struct mapping_set *set, uint64_t address);
/* The last mapping that ends at or before an address, or NULL. */
const struct proc_mapping *mapping_set_before(const struct mapping_set *set, uint64_t address);
size_t mapping_set_count(const struct mapping_set *set);
const struct proc_mapping *mapping_set_at(const struct mapping_set *set, size_t index);
/* Whether both have the same mappings of the same objects. */
bool mapping_set_equal(const struct mapping_set *a, const struct mapping_set *b);
/* A number that two sets with different contents never share. */
uint64_t mapping_set_serial(const struct mapping_set *set);

/* Files that were opened, sorted by ticket. Every batch has another round number, so that a set or
 * a chunk that thousands of processes share is searched once per batch. */
struct opened_batch {
	const struct opened *opened;
	size_t count;
	uint32_t round; /* not 0 */
};

/* Tickets of files that are being opened: whether the set has any; whether it has any of those in
 * the batch; and replacing these by their objects, which changes the serial. mapping_set_replace()
 * is to be called only where any_of() was true. Sets may share chunks, so a caller asks all sets
 * before it changes the first. */
bool mapping_set_has_tickets(const struct mapping_set *set);
bool mapping_set_has_any_of(struct mapping_set *set, const struct opened_batch *batch);
void mapping_set_replace(struct mapping_set *set, const struct opened_batch *batch);

/* Calls fn() with the ids of the set's objects, with some of them more than once. Does nothing when
 * the set was asked in the same round before, for another process that shares it. */
typedef void mapping_object_fn(uint32_t object, void *ctx);
void mapping_set_each_object(struct mapping_set *set, uint32_t round, mapping_object_fn *fn,
                             void *ctx);
