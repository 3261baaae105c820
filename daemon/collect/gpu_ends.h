/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory of a GPU that goes without a free of its own, of one program's feed: what was allocated in
 * a context goes with it, and physical memory when the last handle and the last mapping are gone.
 * No state but the feed's. Loop thread only.
 *
 * Contexts, by the reference manual of CUDA's driver (cuCtxDestroy, cuDevicePrimaryCtxRelease,
 * cuDevicePrimaryCtxReset): with a context goes what cuMemAlloc*, cuMemAllocManaged, cuMemHostAlloc
 * and those of arrays gave, and what cuMemHostRegister was told. Stream-ordered and physical memory
 * is in no context. A device's primary context goes when the last reference to it is released, or
 * when it is reset, which takes no reference away. The handle stays, and the context comes again
 * when it is used.
 *
 * Of a program that ran before its driver was probed, or when events were lost, there may be
 * references that nobody saw: of such a one a release ends nothing. Neither does a context that was
 * current before, when its handle was not seen since.
 *
 * Physical memory (cuMemCreate, cuMemMap, cuMemUnmap, cuMemRelease, cuMemRetainAllocationHandle):
 * what keeps it beside handles and mappings of the process, a descriptor that was exported or
 * another process, is not seen.
 */
#pragma once

#include "collect/gpu_feed.h"

/* An event that tells of contexts, references or mappings. */
void gpu_ends_take(struct gpu_feed *feed, const struct gpu_event *event,
                   struct gpu_feed_counts *counts);
/* With which context an allocation ends; 0: with none, or nobody knows. */
uint64_t gpu_ends_with(const struct gpu_event *event);
/* Whether what is freed is physical memory that something else keeps still. */
bool gpu_ends_keeps(struct gpu_feed *feed, const struct gpu_event *event);
