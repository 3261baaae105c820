/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_search - finds files that contain CUDA's runtime or a framework's allocators without
 * having their names: programs and libraries that are linked with the static runtime. A reader
 * inspects each file once, and only files of processes that have a driver. Loop thread only.
 */
#pragma once

#include "base/lane.h"
#include "object/store.h"
#include "reader/reader.h"

#include <stdbool.h>

struct gpu_search;

/* The lane, its reader and the store outlive the search. `fn` is called after a library was found
 * in a file, and when a file that there was no room to search may be searched now. */
typedef void gpu_found_fn(void *ctx);
struct gpu_search *gpu_search_new(struct lane *lane, struct reader *reader, struct store *store,
                                  gpu_found_fn *fn, void *ctx);
void gpu_search_free(struct gpu_search *search); /* once the lane is idle; takes NULL */

/* The libraries in an object, by its id in the store: enum gpu_library. 0 when it has none, or,
 * with *ret_pending, when that is not known yet; the search for it has then started. */
uint32_t gpu_search_get(struct gpu_search *search, uint32_t id, bool *ret_pending);
uint64_t gpu_search_put_off(const struct gpu_search *search); /* for lack of room */
