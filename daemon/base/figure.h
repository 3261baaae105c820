/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct figure - one number that a part of profd counts or measures about itself, as /status and
 * /metrics report it.
 */
#pragma once

#include <stdint.h>

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
