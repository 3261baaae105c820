/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A stand-in for libcupti without a GPU. Launches that a program makes with these functions are
 * reported as CUPTI reports them: to a subscriber on the launching thread, and as records on a
 * thread of the library. Only enabled callbacks are called, and without a buffer records are
 * dropped.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A kernel that "runs" without any waiting. */
struct fake_kernel {
	const char *name;
	uint64_t ns;
};

struct fake_launch {
	uint32_t runtime, driver; /* numbers of the functions; 0: not called */
	uint64_t handle;          /* of the kernel or graph */
	size_t word;              /* index of the parameter word that holds the handle */
	int result;               /* of the call; not 0: nothing runs */
	int unfinished;           /* kernels do not end, so their buffer only comes back when
	                           * forced */
	int at_once;              /* kernels have run, and were reported, when the call returns */
	uint32_t device;
	const struct fake_kernel *kernels;
	size_t count;
};

struct fake_counts {
	uint64_t subscribed, unsubscribed, refused;
	uint64_t requests; /* for a buffer */
	uint64_t empty;    /* requests for which no buffer was given */
	uint64_t dropped;  /* records */
	uint64_t calls;    /* of a subscriber's callback */
	uint64_t completed;
};

extern void fake_launch(const struct fake_launch *launch);
extern void fake_get_counts(struct fake_counts *ret_counts);
/* While buffers are kept, none comes back. */
extern void fake_keep_buffers(int keep);
/* Another profiler takes CUPTI, or gives it back. With the environment variable FAKE_CUPTI_HELD it
 * has CUPTI from the start. */
extern void fake_hold(int held);
