/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What watching an allocator would cost: how often its functions are called, times what a probe
 * takes. Pure.
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* Nanoseconds for each hit, measured on this host. */
struct heap_price {
	double emulated_ns, stepped_ns; /* by how the kernel runs the instruction under the probe */
	double return_ns;               /* what a return probe adds */
};

/* Used where nothing could be measured. */
#define HEAP_PRICE_DEFAULT \
	((struct heap_price){.emulated_ns = 550, .stepped_ns = 10000, .return_ns = 350})

/* Hits a second. */
struct heap_hits {
	double emulated, stepped;
	double returns; /* those that are followed by a hit at the return */
};

/* Number of cores that will be busy with it; never negative, never NaN. */
double heap_price_cores(const struct heap_price *price, const struct heap_hits *hits);
/* One line for users why process `pid` is not watched: "pid 7 calls its allocator 10,400,000 times
 * a second: probes would cost 5.2 cores, and the budget is 10 % of a core; force=1 attaches them
 * anyway". */
void heap_price_refusal(struct buf *buf, uint32_t pid, double hits_per_second, double cores,
                        double budget_cores);
