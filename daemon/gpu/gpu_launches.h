/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_launches - launches that wait for their kernels, the oldest first. Bounded by
 * MAX_GPU_LAUNCHES and MAX_GPU_LAUNCH_BYTES: when there is no room for one more, the oldest launch
 * of the account whose launches take most is dropped. Owned by one thread.
 */
#pragma once

#include "base/cleanup.h"
#include "bpf/gpu.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	MAX_GPU_LAUNCHES = 64 * 1024,    /* waiting, of all processes */
	MAX_GPU_LAUNCH_BYTES = 24 << 20, /* of their stacks */
};

struct gpu_launch {
	uint64_t time_ns;
	uint32_t tid;
	bool used; /* a kernel of it was reported */
	size_t count;
	const uint64_t *words; /* its stack */
};

struct gpu_launches;

struct gpu_launches *gpu_launches_new(void);           /* NULL when out of memory */
void gpu_launches_free(struct gpu_launches *launches); /* takes NULL */

/* Keeps a copy. 0 or -ENOMEM. Replaces a launch with the same correlation number: programs reuse
 * numbers. */
int gpu_launches_add(struct gpu_launches *launches, const struct gpu_event *event,
                     const uint64_t *words);
/* The launch of a kernel that ran, valid until the next call; NULL: not known. */
const struct gpu_launch *gpu_launches_use(struct gpu_launches *launches,
                                          const struct gpu_event *event);
/* Forgets launches made before that time. */
void gpu_launches_expire(struct gpu_launches *launches, uint64_t mono_ns);
size_t gpu_launches_count(const struct gpu_launches *launches);
/* Launches that were forgotten, for whatever reason, before a kernel of them was reported. */
uint64_t gpu_launches_unused(const struct gpu_launches *launches);
