/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct heaps - heap profiles of single processes, on demand. While a profile is taken, there are
 * probes in the process's allocator, and a sample of its allocations is followed until they are
 * freed. Nothing is attached before or after that, or in any other process.
 *
 * Sampling is by bytes: each allocated byte has the same chance, 1 in rate_bytes. So an allocation
 * of `size` bytes is sampled with P = 1 - exp(-size / rate_bytes), and stands for 1 / P allocations
 * of size / P bytes. Memory that was allocated before the probes were attached is not known, and
 * its frees do not count.
 *
 * A probe is a trap into the kernel for every call, sampled or not, of some 0.5 us. So calls are
 * counted for a moment first. A process whose calls would cost more than `budget` is refused, and
 * the refusal has the figure. The cost goes on being checked while the profile is taken.
 *
 * Loop thread only. Everything slow (reading files, attaching, detaching) is done on a lane.
 */
#pragma once

#include "heap/heap_watch.h"
#include "heap/heaps_stats.h"
#include "reader/reader.h"

#include <stdbool.h>
#include <stdint.h>

struct heaps;

/* 0, or -ENOMEM: then done() is not called. */
int heaps_start(struct heaps *heaps, const struct heap_ask *ask, struct heap_watch *watch);
/* The client no longer waits: detaches soon, and done() is not called. After done(): does
 * nothing. */
void heaps_cancel(struct heaps *heaps, struct heap_watch *watch);

/*
 * The profile of a process that samples its own allocations (USDT probes otel_memory:alloc and
 * free, as in libprofd-heap.so). Such processes are always listened to. 0 and the caller's
 * reference to a profile of the same shape; `watched_ns` of `figures` says for how long it has been
 * listened to. -ENOENT: the process has no such probes, or none has fired yet.
 */
int heaps_standing(struct heaps *heaps, uint32_t pid, enum heap_mode mode,
                   struct profile **ret_profile, struct heap_figures *ret_figures);

/*
 * How many bytes that process has allocated and not freed since profd began to listen to it, as of
 * half a second ago; false: as -ENOENT. Costs a look-up. Sessions of heaps_start() have no such
 * figure: it would begin at zero with each session, and memory that is only replaced meanwhile
 * would look like growth.
 */
bool heaps_inuse(const struct heaps *heaps, uint32_t pid, uint64_t *ret_bytes);

void heaps_get_stats(const struct heaps *heaps, struct heaps_stats *ret_stats);
/* Adds the statistics of the reader processes. */
void heaps_add_reader_stats(const struct heaps *heaps, struct reader_stats *stats);
