/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A stand-in for libcupti without a GPU: what a program launches by these functions is told to a
 * subscriber as CUPTI would tell it, on the launching thread, and to who wants records, on a thread
 * of the library's. A callback that was not enabled is not called, and without a buffer records are
 * dropped.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A kernel that "runs": nothing is waited for. */
struct fake_kernel {
	const char *name;
	uint64_t ns;
};

struct fake_launch {
	uint32_t runtime, driver; /* numbers of the functions; 0: not by that */
	uint64_t handle;          /* of the kernel or graph */
	size_t word;              /* which word of the parameters it is */
	int result;               /* of the call; not 0: nothing runs */
	int unfinished;           /* kernels do not end, so their buffer comes only if forced */
	int at_once;              /* kernels have run, and were told of, when the call returns */
	uint32_t device;
	const struct fake_kernel *kernels;
	size_t count;
};

struct fake_counts {
	uint64_t subscribed, unsubscribed, refused;
	uint64_t requests; /* for a buffer */
	uint64_t empty;    /* of those: none was given */
	uint64_t dropped;  /* records */
	uint64_t calls;    /* of a subscriber's callback */
	uint64_t completed;
};

extern void fake_launch(const struct fake_launch *launch);
extern void fake_get_counts(struct fake_counts *ret_counts);
/* While it keeps buffers, none comes back. */
extern void fake_keep_buffers(int keep);
/* Another profiler takes CUPTI, or gives it back. It has it from the start where there is a
 * variable FAKE_CUPTI_HELD. */
extern void fake_hold(int held);
