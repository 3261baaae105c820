/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From slices to the bytes of an answer: merge, symbolize, seal, encode. Runs on the render lane
 * and touches nothing but its plan.
 */
#pragma once

#include "http/profile_query.h"
#include "symbolize/symbolize.h"

#include <sys/utsname.h>

struct render_plan {
	struct symbolizer *symbolizer;
	const struct utsname *host;
	const char *event;
	uint32_t sample_hz;
	const struct profile_query *query;
	struct profile *const *slices;
	size_t slice_count;
	uint64_t from_mono_ns, to_mono_ns; /* what was asked for */
	uint64_t wall_offset_ns;           /* wall clock minus monotonic clock */
};

/* 0 or negative errno; appends to `out`. */
int render_profile(const struct render_plan *plan, struct buf *out);
