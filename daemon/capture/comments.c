/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The comments of a profile of recorded samples: how it was sampled, the time it covers, the number
 * of ticks of each outcome, how complete its stacks are, and its filters.
 */
#include "capture/comments.h"

#include "base/clock.h"
#include "base/text.h"
#include "capture/render.h"
#include "ingest/source.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_LOST_SHARE = 100 }; /* one lost sample in this many */

/* When nothing ran in the range, the answer is still a valid profile. */
static void add_empty_profile(struct builder *builder, const struct capture_facts *facts)
{
	if (facts->selection->view)
		view_describe(facts->selection->view, builder);
	else
		source_describe(sources[facts->kind], facts->source.period, builder);
	builder_time(builder, facts->from_mono_ns, facts->from_mono_ns + facts->wall_offset_ns,
	             facts->to_mono_ns - facts->from_mono_ns);
}

static void add_filters(struct builder *builder, const struct selection *selection)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;

	for (size_t i = 0; i < selection->pid_count; i++)
		buf_printf(&text, " pid=%" PRIu32, selection->pids[i]);
	for (size_t i = 0; i < selection->tid_count; i++)
		buf_printf(&text, " tid=%" PRIu32, selection->tids[i]);
	for (size_t i = 0; i < selection->comm_count; i++)
		buf_printf(&text, " comm=%s", selection->comms[i]);
	for (size_t i = 0; i < selection->unit_count; i++)
		buf_printf(&text, " unit=%s", selection->units[i]);
	for (size_t i = 0; i < selection->container_count; i++)
		buf_printf(&text, " container=%s", selection->containers[i]);
	for (size_t i = 0; i < selection->pod_count; i++)
		buf_printf(&text, " pod=%s", selection->pods[i]);
	if (selection->children)
		buf_add_text(&text, " children=1");
	if (selection->loops)
		buf_add_text(&text, " python=raw");
	if (selection->no_kernel)
		buf_add_text(&text, " kernel=0");
	if (selection->no_native)
		buf_add_text(&text, " native=0");
	if (selection->no_work)
		buf_add_text(&text, " waiting_for_work=0");
	if (selection->tasks)
		buf_add_text(&text, " tasks=1");
	if (selection->idle)
		buf_add_text(&text, " idle=1");
	if (selection->dims)
		buf_add_text(&text, " dims=1");
	if (text.len) {
		_cleanup_(buf_release) struct buf line = BUF_INIT;

		buf_printf(&line, "filter:%s", buf_text(&text));
		render_comment(builder, &line);
	}
}

static void add_coverage(struct builder *builder, const struct capture_facts *facts)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;
	const struct profile *profile = builder_view(builder);
	uint64_t duration_ns = profile->duration_ns;
	uint64_t asked_ns = facts->to_mono_ns - facts->from_mono_ns;
	struct ticks ticks = profile->ticks;
	char from[TIME_TEXT_BYTES], to[TIME_TEXT_BYTES];

	text_format_time(profile->start_wall_ns, from);
	text_format_time(profile->start_wall_ns + duration_ns, to);
	if (sources[facts->kind]->has_idle)
		buf_printf(&text, "ticks=%" PRIu64 " idle=%" PRIu64 " ", ticks.total, ticks.idle);
	buf_printf(&text, "samples=%" PRIu64 " lost=%" PRIu64,
	           ticks.total - ticks.idle - ticks.lost, ticks.lost);
	if (sources[facts->kind]->has_idle)
		buf_printf(&text, " missed=%" PRIu64, ticks.missed);
	render_comment(builder, &text);
	buf_printf(&text, "covers=%s..%s", from, to);
	render_comment(builder, &text);
	if (!facts->all && asked_ns > duration_ns + NSEC_PER_SEC) {
		buf_printf(&text, "shorter than requested: %llu of %llu s are recorded",
		           duration_ns / NSEC_PER_SEC, asked_ns / NSEC_PER_SEC);
		render_comment(builder, &text);
	}
}

/* Allocations are recorded for all of the history, but what is in use is known for the present
 * only. */
static void add_state(struct builder *builder, const struct capture_facts *facts)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;
	const struct profile *profile = builder_view(builder);
	uint32_t shown = profile->shown;

	if (!sources[facts->kind]->in_use)
		return;
	if (facts->state) {
		buf_add_text(&text,
		             "inuse_objects and inuse_space are those at the end of this time");
		render_comment(builder, &text);
		return;
	}
	while (shown && !strncmp(profile_string(profile, profile->types[shown].type), "inuse",
	                         strlen("inuse")))
		shown--;
	builder_show(builder, shown);
	buf_add_text(&text, "inuse_objects and inuse_space are 0: they are known only for the "
	                    "present, and this time is over");
	render_comment(builder, &text);
}

/* Only when the loss exceeds the statistical error of sums. */
static void add_missing(struct builder *builder)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;
	const struct ticks *ticks = &builder_view(builder)->ticks;
	uint64_t all = ticks->total - ticks->idle;

	if (ticks->lost * MAX_LOST_SHARE <= all)
		return;
	buf_printf(&text,
	           PROFILE_INCOMPLETE "%" PRIu64 " of %" PRIu64
	                              " samples were lost: sums are too small",
	           ticks->lost, all);
	render_comment(builder, &text);
}

/* Of what is on the disk. */
static void add_past(struct builder *builder, const struct capture_facts *facts)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;

	if (facts->unreadable) {
		buf_printf(&text,
		           PROFILE_INCOMPLETE "%" PRIu32 " profiles on the disk are left out: "
		                              "damaged, or of another version or rate",
		           facts->unreadable);
		render_comment(builder, &text);
	}
	if (facts->past_err) {
		buf_printf(&text, PROFILE_INCOMPLETE "earlier samples on the disk are left out: %s",
		           facts->past_err == -EBUSY ? "too many requests for them are in flight"
		           : facts->past_err == -ETIMEDOUT ? "reading them takes too long"
		                                           : strerror(-facts->past_err));
		render_comment(builder, &text);
	}
	if (facts->gap_ns > NSEC_PER_SEC) {
		buf_printf(&text, PROFILE_INCOMPLETE "nothing is recorded for %llu s of this time",
		           (facts->gap_ns + NSEC_PER_SEC / 2) / NSEC_PER_SEC);
		render_comment(builder, &text);
	}
}

/* An earlier daemon may have had another rate than this one. */
static uint64_t sample_hz(const struct builder *builder)
{
	uint64_t period = builder_view(builder)->period;

	return period ? (NSEC_PER_SEC + period / 2) / period : 0;
}

void capture_describe(struct builder *builder, const void *ctx)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;
	const struct capture_facts *facts = ctx;

	if (facts->empty)
		add_empty_profile(builder, facts);
	add_missing(builder);
	add_past(builder, facts);
	if (sources[facts->kind]->has_idle) {
		buf_printf(&text, "sample_hz=%" PRIu64, sample_hz(builder));
		render_comment(builder, &text);
		buf_printf(&text, "event=%s", facts->source.event);
		render_comment(builder, &text);
	}
	if (!facts->source.on) {
		buf_printf(&text, "%s is off: %s", facts->source.name, facts->source.why);
		render_comment(builder, &text);
	}
	add_state(builder, facts);
	add_coverage(builder, facts);
	if (!facts->selection->no_native && !facts->selection->tasks)
		render_quality(builder);
	add_filters(builder, facts->selection);
}
