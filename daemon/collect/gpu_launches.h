/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_launches - launches that wait for their kernels, the oldest first. Bounded by
 * MAX_GPU_LAUNCHES and MAX_GPU_LAUNCH_BYTES: where there is no room for one more, the oldest of
 * the account whose launches take most goes. Owned by one thread.
 */
#pragma once

#include "base/cleanup.h"
#include "bpf/gpu.h"

#include <stdbool.h>
#include <stddef.h>

struct gpu_launch {
	uint64_t time_ns;
	uint32_t tid;
	bool used; /* a kernel of it was told */
	size_t count;
	const uint64_t *words; /* its stack */
};

struct gpu_launches;

struct gpu_launches *gpu_launches_new(void);           /* NULL when out of memory */
void gpu_launches_free(struct gpu_launches *launches); /* takes NULL */

/* Keeps a copy. 0 or -ENOMEM. A launch of the same number is gone: numbers come again. */
int gpu_launches_add(struct gpu_launches *launches, const struct gpu_event *event,
                     const uint64_t *words);
/* The launch of a kernel that ran, valid until the next call; NULL: it is not known. */
const struct gpu_launch *gpu_launches_use(struct gpu_launches *launches,
                                          const struct gpu_event *event);
/* Forgets those that were made before. */
void gpu_launches_expire(struct gpu_launches *launches, uint64_t mono_ns);
size_t gpu_launches_count(const struct gpu_launches *launches);
/* That were forgotten, for whatever reason, before they were used. */
uint64_t gpu_launches_unused(const struct gpu_launches *launches);
