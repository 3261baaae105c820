/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The two probes. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { NO_DEVICE = 0xff }; /* as in bpf/gpu.h */

/* The kernels of one name that result from a launch. */
struct told_kernels {
	uint64_t correlation;
	uint64_t ns;     /* their total run time */
	uint64_t device; /* NO_DEVICE: not known */
	uint64_t weight; /* number of launches that this one stands for */
	uint64_t kernels;
	const char *name;
};

/* Whether a profiler listens to both probes. */
bool tell_heard(void);
/* profd_cuda:launched(correlation), on the thread that launches. */
void tell_launched(uint64_t correlation);
/* profd_cuda:ran(correlation, nanoseconds, device, name, weight, kernels) */
void tell_ran(const struct told_kernels *told);
