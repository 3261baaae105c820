/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From slices to the bytes of an answer: merge, symbolize, describe, seal, encode. Runs on the
 * render lane and touches nothing but its plan.
 */
#pragma once

#include "http/format_query.h"
#include "profile/select.h"
#include "symbolize/symbolize.h"

#include <sys/utsname.h>

struct render_plan {
	struct symbolizer *symbolizer;
	const struct utsname *host;
	const struct selection *selection;
	const struct format_query *format;
	struct profile *const *slices;
	size_t slice_count;
	uint32_t viewer; /* of source lines: admit_viewer() */
	/* Once everything has its name; NULL: it stays as it is. */
	void (*named)(struct builder *builder);
	/* Adds the comments that only this kind of profile has, and value types where there were no
	 * slices to have any; `ctx` is passed. */
	void (*describe)(struct builder *builder, const void *ctx);
	const void *ctx;
};

enum { RENDER_LINE_BYTES = 256 };

/* 0 or negative errno; appends to `out`. -ESRCH: nothing is left of what the selection names, and
 * no process or thread is called so. `ret_incomplete`: why its sums are too small, or "". */
int render_profile(const struct render_plan *plan, struct buf *out,
                   char ret_incomplete[RENDER_LINE_BYTES]);

/* For describing: a comment is the text, which is empty again afterwards. */
void render_comment(struct builder *builder, struct buf *text);
/* "stacks complete 99.84 % of 1234; cut short: 2 no unwind information" */
void render_quality(struct builder *builder);
