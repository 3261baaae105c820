/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct heap_guard - what watching a process costs it: predicted from a moment of counting, and
 * measured while it is done. A cost is CPU time that the probes take, as a share of one core.
 *
 * What is counted is slowed down by the counting: a process that does nothing but allocate calls
 * ten million times a second without a probe, and two million times with one. So it is also looked
 * how much CPU time the process takes before and meanwhile: the calls belong to what is left of the
 * latter when the probes' share is taken off, and without probes the former would be left.
 */
#pragma once

#include "collect/heap_kernel.h"
#include "heap/price.h"

#include <time.h>

/* A moment. */
struct heap_mark {
	struct heap_counts counts;
	uint64_t mono_ns, cpu_ns;
};

struct heap_guard {
	const struct heap_kernel *kernel;
	const struct heap_price *price;
	u32 slot;
	clockid_t cpu_clock; /* of the process */
	struct heap_mark opened, started, checked;
	double cores_before; /* CPU time that it took before there was any probe, per time */
};

/* What came in a time. */
struct heap_reading {
	struct heap_counts counts;
	uint64_t ns;
	double hits_per_second, cost, cores;
};

void heap_guard_open(struct heap_guard *guard, const struct heap_kernel *kernel,
                     const struct heap_price *price, u32 slot, uint32_t pid);
/* Before the first probe is attached: waits until there is something to compare with. On a lane. */
void heap_guard_rest(struct heap_guard *guard);
void heap_guard_mark(const struct heap_guard *guard, struct heap_mark *ret_mark);
/* Since a mark. */
void heap_guard_read(const struct heap_guard *guard, const struct heap_mark *since,
                     struct heap_reading *ret_reading);
/* Makes of what was counted what there would be without probes, and its cost for the same work. */
void heap_guard_correct(const struct heap_guard *guard, struct heap_reading *reading);
