/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct heap_guard - what watching a process costs the process: predicted by counting calls for a
 * moment, and measured while it is watched. A cost is the CPU time that the probes take, as a share
 * of one core.
 *
 * Counting slows down what it counts: a process that does nothing but allocate calls ten million
 * times a second without a probe, and two million times with one. So the CPU time of the process is
 * measured before counting and during it. The counted calls were made in the CPU time during
 * counting less the probes' share. Without probes, the process would have the CPU time measured
 * before.
 */
#pragma once

#include "allocators/price.h"
#include "kernel/heap_kernel.h"

#include <time.h>

/* The readings at one moment. */
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
	double cores_before; /* the cores that it used before there was any probe */
};

/* What was counted in a period. */
struct heap_reading {
	struct heap_counts counts;
	uint64_t ns;
	double hits_per_second, cost, cores;
};

void heap_guard_open(struct heap_guard *guard, const struct heap_kernel *kernel,
                     const struct heap_price *price, u32 slot, uint32_t pid);
/* Call before the first probe is attached: waits until there is enough to compare with. On a
 * lane. */
void heap_guard_rest(struct heap_guard *guard);
void heap_guard_mark(const struct heap_guard *guard, struct heap_mark *ret_mark);
/* Reads what was counted since a mark. */
void heap_guard_read(const struct heap_guard *guard, const struct heap_mark *since,
                     struct heap_reading *ret_reading);
/* Corrects a reading made while counting: to the hits that the process would cause without being
 * slowed down, and to their cost. */
void heap_guard_correct(const struct heap_guard *guard, struct heap_reading *reading);
