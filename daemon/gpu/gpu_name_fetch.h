/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_name_fetches - reads names of kernels from the memory of their processes, where the
 * kernel half could not. It reads on threads that may hang (base/crew.h): a page that was there a
 * moment ago may by now belong to a file server. Loop thread only.
 */
#pragma once

#include "base/cleanup.h"
#include "base/crew.h"
#include "bpf/gpu.h"

#include <stdbool.h>
#include <stddef.h>

struct gpu_name_fetches;

/* A handle that a program of a process uses. */
struct gpu_named_by {
	uint32_t pid, image;
	uint64_t handle;
};

enum { MAX_FETCHED_HANDLES = 8 }; /* of one kernel: its stub, functions of contexts */

struct gpu_name_fetched {
	struct gpu_named_by by;
	uint64_t handles[MAX_FETCHED_HANDLES]; /* that of `by`, and aliases of it */
	size_t count;
	/* Without the NUL at its end; cut when it is too long. 0 bytes: the name is not there, or
	 * not in memory. */
	char name[GPU_NAME_BYTES];
	size_t len;
};

/* `crew` NULL: names are read at once. `execs` as of bpf/execs.h: a name that was read from another
 * program of the process, which may be another user's, is discarded. `fn` is called for each read
 * that was started and is still wanted. NULL when out of memory. */
typedef void gpu_name_fetched_fn(const struct gpu_name_fetched *fetched, void *ctx);
struct gpu_name_fetches *gpu_name_fetches_new(struct crew *crew, const uint64_t *execs,
                                              gpu_name_fetched_fn *fn, void *ctx);
/* Once the crew is stopped. Takes NULL. */
void gpu_name_fetches_free(struct gpu_name_fetches *fetches);

/* Starts reading the string at address event->size, on behalf of that user. False: no room. */
bool gpu_name_fetches_start(struct gpu_name_fetches *fetches, const struct gpu_named_by *by,
                            uint32_t owner, const struct gpu_event *event);
/* Adds `handle` as an alias of a handle whose name is being read. False: no such read is under
 * way. */
bool gpu_name_fetches_add(struct gpu_name_fetches *fetches, const struct gpu_named_by *by,
                          uint64_t handle);
/* The handle now stands for something else: the read under way for it is no longer wanted. */
void gpu_name_fetches_drop(struct gpu_name_fetches *fetches, const struct gpu_named_by *by);
/* Waits a moment for reads that were started within it. */
void gpu_name_fetches_settle(struct gpu_name_fetches *fetches);
