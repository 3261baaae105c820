/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_sums - what each call path of each task has allocated since the last slice, and still
 * holds, of one layer of one process. Exact. A pair that holds nothing makes room for others when
 * what it allocated was told. Bounded. Owned by one thread.
 */
#pragma once

#include "base/cleanup.h"
#include "profile/profile.h"

#include <stdbool.h>

enum { GPU_SUMS_MAX = 1 << 18 }; /* as many as there may be live allocations in gpu_live.h */

struct gpu_sum {
	uint32_t path, task; /* of the feed's builder */
	uint32_t next;       /* of the same bucket, or free, by place + 1 */
	bool used;
	uint64_t allocations, allocated; /* since the last slice: how many, bytes */
	uint64_t objects, bytes;         /* held now */
};

struct gpu_sums {
	struct gpu_sum *at;
	uint32_t count, capacity;
	uint32_t *buckets; /* by place + 1; as many as there is capacity */
	uint32_t free;     /* the first place that is, + 1 */
};

/* The place of a pair, made when there is none; it stays while the pair holds something.
 * UINT32_MAX: there are too many, or out of memory. */
uint32_t gpu_sums_place(struct gpu_sums *sums, uint32_t path, uint32_t task);
/* Samples of what was allocated since the last time this was asked, or of what is held. The first
 * one stands for none. To be freed; 0 or -ENOMEM. */
int gpu_sums_allocated(struct gpu_sums *sums, struct sample **ret_samples, uint32_t *ret_count);
int gpu_sums_held(const struct gpu_sums *sums, struct sample **ret_samples, uint32_t *ret_count);
size_t gpu_sums_memory(const struct gpu_sums *sums);
void gpu_sums_release(struct gpu_sums *sums);
