/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The numbers that profd counts and measures of itself, one by one, from the lists they are
 * declared in: for /status, which has them in parts, and for /metrics. Loop thread only.
 */
#pragma once

#include "http/request.h"

enum figure_type {
	FIGURE_counter, /* only ever grows */
	FIGURE_gauge,
	FIGURE_seconds, /* a counter of nanoseconds, told in seconds */
};

struct figure {
	const char *part, *name; /* in /status */
	const char *metric;      /* in /metrics, but for "profd_" and the "_total" of counters */
	enum figure_type type;
	const char *help; /* a sentence without its full stop */
	uint64_t value;
};

typedef void figure_fn(const struct figure *figure, void *ctx);
/* Part by part. */
void figures_each(const struct request *request, figure_fn *fn, void *ctx);
