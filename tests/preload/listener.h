/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A profiler inside the process, which does what the kernel does for a profiler outside: finds the
 * probes by the notes in the preloaded library's file, increments their semaphores, and puts a
 * breakpoint on each nop. The values that the registers then have according to the notes are kept
 * here, and compared with what the tests know to be true.
 *
 * Nothing here allocates. Any thread may pass a probe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reports since listen_from_now(). */
struct heard {
	uint64_t allocs, bytes, weight, frees;
	uint64_t live;     /* allocs without their free */
	uint64_t twice;    /* allocs of an address whose free was not reported */
	uint64_t unpaired; /* frees of an address whose alloc was not reported */
};

/* For sampled sizes up to this one, the weights are also kept by size. */
#define HEARD_SIZES 2048

extern struct heard heard;
extern uint64_t heard_weights[HEARD_SIZES];

/* Aborts with a line that says why, if the library is not preloaded or has no such probes. */
void listen_from_now(void);

/* Stops listening; the reports so far are kept. */
void listen_no_more(void);

/* Whether the block's alloc was reported, and its free not yet. */
bool heard_live(const void *block);
