/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The comments of a profile of recorded samples. Any thread; profiles are rendered on the render
 * lane.
 */
#pragma once

#include "bpf/abi.h"
#include "collect/collector.h"
#include "profile/builder.h"
#include "profile/select.h"

struct capture_facts {
	enum profile_kind kind;
	struct source_status source; /* of this kind of profile */
	const struct selection *selection;
	uint64_t from_mono_ns, to_mono_ns; /* the requested range */
	uint64_t wall_offset_ns;           /* wall clock minus monotonic clock */
	uint64_t gap_ns;                   /* between the slices */
	int past_err;                      /* why earlier profiles could not be read; 0 */
	uint32_t unreadable;               /* earlier profiles that could not be read */
	bool empty;                        /* nothing was recorded in the range */
	bool all;                          /* everything that is kept was requested */
	bool state; /* a slice holds what is in use at the end; only for kinds with source.in_use */
};

/* For render_plan.describe; `ctx` is a struct capture_facts. */
void capture_describe(struct builder *builder, const void *ctx);
