/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The figures that profd counts and measures about itself, one at a time, from the lists that
 * declare them: for /status, which groups them in parts, and for /metrics. Loop thread only.
 */
#pragma once

#include "http/request.h"

enum figure_type {
	FIGURE_counter, /* never decreases */
	FIGURE_gauge,
	FIGURE_seconds, /* a counter of nanoseconds, reported in seconds */
};

struct figure {
	const char *part, *name; /* in /status */
	const char *metric;      /* in /metrics, without "profd_" and the "_total" of counters */
	enum figure_type type;
	const char *help; /* a sentence without its full stop */
	uint64_t value;
};

typedef void figure_fn(const struct figure *figure, void *ctx);
/* Calls fn for each figure; the figures of one part come one after the other. */
void figures_each(const struct request *request, figure_fn *fn, void *ctx);
