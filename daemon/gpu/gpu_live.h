/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_live - the GPU memory that one process holds in one layer, allocation by allocation:
 * exact, not sampled. Events may come somewhat out of order: a free before its allocation, or after
 * the next allocation at the same address; their times tell. The table grows to a bound; the caller
 * counts what finds no room. The allocations of a context are found together, oldest first. Owned
 * by one thread.
 */
#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	GPU_LIVE_MAX = 1 << 18, /* allocations that one table holds at once */
	GPU_LIVE_CONTEXTS = 64, /* contexts that have allocations at once */
};

struct gpu_live;

struct gpu_allocation {
	uint64_t address; /* address or handle; not 0 */
	uint64_t size, time_ns;
	/* For the caller: the sum that the allocation was added to; for physical memory, how many
	 * handles and mappings keep it; for a mapping, the handle of its memory. */
	uint32_t sum;
	uint8_t memory, device;
	uint8_t group; /* private to the table, as are `earlier` and `later` */
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
	GPU_LIVE_ALONE, /* kept, but not found by its context: there are too many contexts */
	GPU_LIVE_OVER,  /* already freed, or the address has a later allocation */
	GPU_LIVE_FULL,  /* no room, or out of memory */
};

struct gpu_live *gpu_live_new(void); /* NULL: out of memory */
void gpu_live_destroy(struct gpu_live *live);
DEFINE_CLEANUP(struct gpu_live *, gpu_live_destroy)

/* Context 0: none, or not known. `ret_before` is the allocation that was at the address before and
 * is gone, because its free was lost or is late; its address is 0 when there was none. */
enum gpu_live_result gpu_live_add(struct gpu_live *live, const struct gpu_allocation *allocation,
                                  uint64_t context, struct gpu_allocation *ret_before);
/* The allocation at the address; the caller may change its own members. NULL: none. */
struct gpu_allocation *gpu_live_find(const struct gpu_live *live, uint64_t address);
/* True: the allocation is removed and copied to `ret_gone`. False: nothing is removed. Then the
 * address in `ret_gone` is non-zero if the free belongs to an allocation that the present one
 * replaced, and 0 if no allocation is known there, or not yet. */
bool gpu_live_remove(struct gpu_live *live, uint64_t address, uint64_t time_ns,
                     struct gpu_allocation *ret_gone);
/* Removes one allocation made in the context no later than that time; false: there are no more. */
bool gpu_live_remove_of(struct gpu_live *live, uint64_t context, uint64_t time_ns,
                        struct gpu_allocation *ret_gone);
/* Frees so far that waited too long for their allocation. */
uint64_t gpu_live_unmatched(struct gpu_live *live, uint64_t now_ns);
/* A frozen table takes no more memory; each free makes room for a new allocation. */
void gpu_live_freeze(struct gpu_live *live, bool frozen);
size_t gpu_live_count(const struct gpu_live *live);
size_t gpu_live_memory(const struct gpu_live *live); /* bytes it takes */
