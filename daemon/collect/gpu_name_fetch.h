/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_name_fetches - names of kernels that are read from the processes that have them, where
 * the kernel half could not: on threads that may hang (base/crew.h), for a page that was there a
 * moment ago may be one of a file server now. Loop thread only.
 */
#pragma once

#include "base/cleanup.h"
#include "base/crew.h"
#include "bpf/gpu.h"

#include <stdbool.h>
#include <stddef.h>

struct gpu_name_fetches;

/* A handle of a program of a process. */
struct gpu_named_by {
	uint32_t pid, image;
	uint64_t handle;
};

enum { MAX_FETCHED_HANDLES = 8 }; /* of one kernel: its stub, functions of contexts */

struct gpu_name_fetched {
	struct gpu_named_by by;
	uint64_t handles[MAX_FETCHED_HANDLES]; /* that of `by`, and further ones of the same */
	size_t count;
	/* Without the NUL at its end, cut where it is too long; 0 bytes: it is not there, or not in
	 * memory. */
	char name[GPU_NAME_BYTES];
	size_t len;
};

/* `crew` NULL: it is read at once. `execs` as bpf/execs.h has them: another program of the
 * process, which may be another user's, is not asked for its memory. Told of each that was started
 * and is still wanted. NULL when out of memory. */
typedef void gpu_name_fetched_fn(const struct gpu_name_fetched *fetched, void *ctx);
struct gpu_name_fetches *gpu_name_fetches_new(struct crew *crew, const uint64_t *execs,
                                              gpu_name_fetched_fn *fn, void *ctx);
/* Once the crew is stopped. Takes NULL. */
void gpu_name_fetches_free(struct gpu_name_fetches *fetches);

/* The string at the address that is the event's size, for that user. False: no room. */
bool gpu_name_fetches_start(struct gpu_name_fetches *fetches, const struct gpu_named_by *by,
                            uint32_t owner, const struct gpu_event *event);
/* The handle is another one of what is being read. False: that is not. */
bool gpu_name_fetches_add(struct gpu_name_fetches *fetches, const struct gpu_named_by *by,
                          uint64_t handle);
/* The handle is something else now: what is being read for it is not wanted any more. */
void gpu_name_fetches_drop(struct gpu_name_fetches *fetches, const struct gpu_named_by *by);
/* Waits a moment for those that were started within it. */
void gpu_name_fetches_settle(struct gpu_name_fetches *fetches);
