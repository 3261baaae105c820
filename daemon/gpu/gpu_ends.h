/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * GPU memory that goes without a free of its own, for the feed of one program: memory allocated in
 * a context goes with the context, and physical memory goes with its last handle and last mapping.
 * No state but the feed's. Loop thread only.
 *
 * Contexts, by the reference manual of CUDA's driver (cuCtxDestroy, cuDevicePrimaryCtxRelease,
 * cuDevicePrimaryCtxReset): a context takes with it what cuMemAlloc*, cuMemAllocManaged,
 * cuMemHostAlloc and the array functions allocated, and what cuMemHostRegister registered.
 * Stream-ordered and physical memory belongs to no context. A device's primary context ends when
 * the last reference to it is released, or when it is reset, which drops no reference. The handle
 * stays, and the context comes back when it is used.
 *
 * A program that ran before its driver was probed, or whose events were lost, may hold references
 * that were not seen: a release of one ends nothing. Neither does the end of a context that was
 * current before probing began, if its handle was not seen after that.
 *
 * Physical memory (cuMemCreate, cuMemMap, cuMemUnmap, cuMemRelease, cuMemRetainAllocationHandle):
 * besides handles and mappings of the process, an exported descriptor or another process may keep
 * it. Neither is seen.
 */
#pragma once

#include "gpu/gpu_feed.h"

/* Takes an event about contexts, references or mappings. */
void gpu_ends_take(struct gpu_feed *feed, const struct gpu_event *event,
                   struct gpu_feed_counts *counts);
/* The context that an allocation ends with; 0: none, or not known. */
uint64_t gpu_ends_with(const struct gpu_event *event);
/* Whether the freed memory is physical memory that another handle or a mapping still keeps. */
bool gpu_ends_keeps(struct gpu_feed *feed, const struct gpu_event *event);
