/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_live - the memory of a GPU that one process holds, allocation by allocation, of one
 * layer: exact, not sampled. Events may come somewhat out of order: a free before its allocation,
 * or after the next one at the same address; times tell. Grows to a bound; what finds no room is
 * the caller's to count. What was allocated in one context is found together, oldest first. Owned
 * by one thread.
 */
#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	GPU_LIVE_MAX = 1 << 18, /* allocations held at once, of one table */
	GPU_LIVE_CONTEXTS = 64, /* in which there are such, at once */
};

struct gpu_live;

struct gpu_allocation {
	uint64_t address; /* or handle; not 0 */
	uint64_t size, time_ns;
	/* The caller's: to what it was added; of physical memory, how many handles and mappings
	 * keep it, and of a mapping, whose it is. */
	uint32_t sum;
	uint8_t memory, device;
	uint8_t group; /* the table's own, as are the next two */
	uint64_t earlier, later;
	union {
		struct {
			uint32_t references, maps;
		};
		uint64_t handle;
	};
};

enum gpu_live_result {
	GPU_LIVE_KEPT,
	GPU_LIVE_ALONE, /* kept, but not found by its context: there are too many */
	GPU_LIVE_OVER,  /* it was freed already, or the address has a later one */
	GPU_LIVE_FULL,  /* or out of memory */
};

struct gpu_live *gpu_live_new(void); /* NULL: out of memory */
void gpu_live_destroy(struct gpu_live *live);
DEFINE_CLEANUP(struct gpu_live *, gpu_live_destroy)

/* Context 0: it is in none, or nobody knows in which. What was at the address before and is not any
 * more, its free being lost or late, is in `ret_before`; its address is 0 when there was none. */
enum gpu_live_result gpu_live_add(struct gpu_live *live, const struct gpu_allocation *allocation,
                                  uint64_t context, struct gpu_allocation *ret_before);
/* What is at the address, for the caller to change what is its own; NULL: nothing. */
struct gpu_allocation *gpu_live_find(const struct gpu_live *live, uint64_t address);
/* True, and what it was, when something was freed. False: `ret_gone` has the address when the free
 * was of what made room for what is there now, and 0 when nothing is known of it, or not yet. */
bool gpu_live_remove(struct gpu_live *live, uint64_t address, uint64_t time_ns,
                     struct gpu_allocation *ret_gone);
/* Takes out one that was allocated in the context until then; false: there is none more. */
bool gpu_live_remove_of(struct gpu_live *live, uint64_t context, uint64_t time_ns,
                        struct gpu_allocation *ret_gone);
/* Frees that waited for their allocation too long, so far. */
uint64_t gpu_live_unmatched(struct gpu_live *live, uint64_t now_ns);
/* It takes no more memory while that is so: who frees something makes room for others. */
void gpu_live_freeze(struct gpu_live *live, bool frozen);
size_t gpu_live_count(const struct gpu_live *live);
size_t gpu_live_memory(const struct gpu_live *live); /* bytes it takes */
