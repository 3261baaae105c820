/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct heap_table - the sampled allocations of one process: which are live, and what each stack
 * of each task has allocated and still holds. Events may come somewhat out of order: a free before
 * its allocation, or after the next allocation at the same address; their times tell. The table
 * begins small and grows up to its limits; what finds no room is counted. Owned by one thread.
 */
#pragma once

#include "allocators/weights.h"
#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>

struct heap_table;

struct heap_limits {
	size_t live;   /* allocations held at once; 0: 65536 */
	size_t stacks; /* pairs of stack and task; 0: 32768 */
};

struct heap_alloc {
	uint64_t address, size;
	uint64_t time_ns; /* when it returned */
	struct heap_weight weight;
	uint32_t path, task; /* the caller's numbers of the stack and the task */
};

struct heap_table_stats {
	uint64_t allocated, freed; /* events received */
	uint64_t no_room_live;     /* allocations that were counted as allocated, but not as held */
	uint64_t no_room_stacks;   /* allocations that were not counted at all */
	uint64_t unmatched;        /* frees whose allocation was neither known nor seen later */
	uint64_t replaced; /* live allocations whose address was allocated again: a free was lost */
	uint64_t live;     /* now */
	struct heap_weight in_use, peak; /* now, and at the peak */
	uint64_t peak_ns;
};

struct heap_table *heap_table_new(const struct heap_limits *limits); /* NULL: out of memory */
void heap_table_destroy(struct heap_table *table);
DEFINE_CLEANUP(struct heap_table *, heap_table_destroy)

void heap_table_alloc(struct heap_table *table, const struct heap_alloc *alloc);
void heap_table_free(struct heap_table *table, uint64_t address, uint64_t time_ns);
/* A realloc that succeeded: `old` is freed and `alloc` allocated, at the same address or another
 * one. Either may be absent, 0 or NULL, where it was not sampled. */
void heap_table_realloc(struct heap_table *table, uint64_t old, const struct heap_alloc *alloc,
                        uint64_t time_ns);

enum heap_mode {
	HEAP_ALL,   /* everything allocated, and the part of it that is in use */
	HEAP_LEAKS, /* allocated in the first half of the window and in use at its end */
	HEAP_PEAK,  /* in_use is as of the moment at which the total was largest */
};

struct heap_window {
	uint64_t start_ns, end_ns;
};

/* The sums of one stack of one task. */
struct heap_sums {
	uint32_t path, task;
	struct heap_weight allocated, in_use;
};

/* Calls fn for each stack and task with a sum other than 0, in the order of the first allocations.
 * The window is used for HEAP_LEAKS only: the other modes cover the table's whole life. Stops when
 * fn returns non-zero and returns that. */
typedef int heap_sums_fn(const struct heap_sums *sums, void *ctx);
int heap_table_read(struct heap_table *table, enum heap_mode mode, const struct heap_window *window,
                    heap_sums_fn *fn, void *ctx);
void heap_table_get_stats(const struct heap_table *table, struct heap_table_stats *ret_stats);
size_t heap_table_memory(const struct heap_table *table); /* bytes it holds now */
