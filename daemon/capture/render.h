/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Makes the bytes of a profile from slices: merges what the selection keeps, names it, describes
 * it, and encodes it. Whoever asks for a profile uses it, whether or not over HTTP. Touches nothing
 * but its plan; on the render lane, because it is slow and the symbolizer belongs to that lane.
 */
#pragma once

#include "capture/report_more.h"
#include "encode/encoder.h"
#include "profile/select.h"
#include "symbolize/symbolize.h"

#include <sys/utsname.h>

struct render_plan {
	struct symbolizer *symbolizer;
	const struct utsname *host;
	const struct selection *selection;
	const struct encoder *encoder;
	struct encode_options options; /* without source_line */
	struct profile *const *slices;
	size_t slice_count;
	const struct report_more *more; /* for a report; or NULL */
	uint32_t viewer; /* the user that may read source lines, see symbolize/source_text.h */
	/* Called after symbolization; NULL: nothing to do. */
	void (*named)(struct builder *builder);
	/* Adds the comments of this kind of profile, and its value types when there was no slice to
	 * take them from; gets `ctx`. NULL: it has the comments of its slices only. */
	void (*describe)(struct builder *builder, const void *ctx);
	const void *ctx;
};

enum { RENDER_LINE_BYTES = 256 };

/* Appends to `out`. 0 or negative errno. -ESRCH: no sample matches the selection, and no process or
 * thread has one of its names. `ret_incomplete`: why the profile's sums are too small, or "". */
int render_profile(const struct render_plan *plan, struct buf *out,
                   char ret_incomplete[RENDER_LINE_BYTES]);

/* For describe(): adds `text` as a comment and empties it. */
void render_comment(struct builder *builder, struct buf *text);
/* Adds a comment such as "stacks complete 99.84 % of 1234; cut short: 2 no unwind information". */
void render_quality(struct builder *builder);
