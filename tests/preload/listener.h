/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A profiler in the process itself, which does what the kernel does for one outside: finds the
 * probes by the notes of the preloaded library's file, counts their semaphores up, and puts a
 * breakpoint on each nop. What the registers then say by the notes is kept here, and compared with
 * what the tests know to be true.
 *
 * Nothing here allocates. Any thread may pass a probe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What was heard since listen_from_now(). */
struct heard {
	uint64_t allocs, bytes, weight, frees;
	uint64_t live;     /* allocs without their free */
	uint64_t twice;    /* allocs of an address whose free was not heard */
	uint64_t unpaired; /* frees of an address whose alloc was not heard */
};

/* Of sampled sizes up to here the weights are also kept by size. */
#define HEARD_SIZES 2048

extern struct heard heard;
extern uint64_t heard_weights[HEARD_SIZES];

/* Aborts with a line that says why, if the library is not preloaded or has no such probes. */
void listen_from_now(void);

/* Nobody listens any more; what was heard stays. */
void listen_no_more(void);

/* Whether the block's alloc was heard, and its free not yet. */
bool heard_live(const void *block);
