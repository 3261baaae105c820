/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_sums - for one layer of one process: what each call path of each task has allocated
 * since the last slice, and what it still holds. Exact. A pair of call path and task that holds
 * nothing makes room for others after a slice has taken what it allocated. Bounded. Owned by one
 * thread.
 */
#pragma once

#include "base/cleanup.h"
#include "profile/profile.h"

#include <stdbool.h>

enum { GPU_SUMS_MAX = 1 << 18 }; /* as many as there may be live allocations in gpu_live.h */

struct gpu_sum {
	uint32_t path, task; /* ids of the feed's builder */
	uint32_t next;       /* in the same bucket, or free list; place + 1 */
	bool used;
	uint64_t allocations, allocated; /* since the last slice: how many, bytes */
	uint64_t objects, bytes;         /* held now */
};

struct gpu_sums {
	struct gpu_sum *at;
	uint32_t count, capacity;
	uint32_t *buckets; /* by place + 1; `capacity` of them */
	uint32_t free;     /* the first free place + 1 */
};

/* The place of a pair, made when there is none; it stays while the pair holds something.
 * UINT32_MAX: there are too many, or out of memory. */
uint32_t gpu_sums_place(struct gpu_sums *sums, uint32_t path, uint32_t task);
/* Samples of what was allocated since the previous call, or of what is held. The first sample
 * stands for none. The caller frees the array; 0 or -ENOMEM. */
int gpu_sums_allocated(struct gpu_sums *sums, struct sample **ret_samples, uint32_t *ret_count);
int gpu_sums_held(const struct gpu_sums *sums, struct sample **ret_samples, uint32_t *ret_count);
size_t gpu_sums_memory(const struct gpu_sums *sums);
void gpu_sums_release(struct gpu_sums *sums);
