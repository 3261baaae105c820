/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_search - which files have CUDA's runtime or a framework's allocators in them without
 * being called so: programs and libraries that were linked with the static runtime. Each is looked
 * into once, by a reader, and only those of processes that have a driver. Loop thread only.
 */
#pragma once

#include "base/lane.h"
#include "object/store.h"
#include "reader/reader.h"

#include <stdbool.h>

struct gpu_search;

/* The lane, its reader and the store outlive it; `fn` is told after a file was found to have
 * something. */
typedef void gpu_found_fn(void *ctx);
struct gpu_search *gpu_search_new(struct lane *lane, struct reader *reader, struct store *store,
                                  gpu_found_fn *fn, void *ctx);
void gpu_search_free(struct gpu_search *search); /* once the lane is idle; takes NULL */

/* By an object's id in the store: enum gpu_library. 0 when it has none of them, or when that is not
 * known yet, with *ret_pending; then it is found out. */
uint32_t gpu_search_get(struct gpu_search *search, uint32_t id, bool *ret_pending);
