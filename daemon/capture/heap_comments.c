/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The comments of a /heap answer: the process and its allocator, how and when its allocations were
 * sampled, what watching them cost the process, and what was lost or ended early.
 */
#include "capture/heap_comments.h"

#include "base/clock.h"
#include "base/text.h"
#include "capture/render.h"

#include <inttypes.h>

static const char *const modes[] = {
	[HEAP_ALL] = "all: allocations in this time, and those of them in use at its end",
	[HEAP_LEAKS] =
		"leaks: allocations in the first half of this time that are in use at its end",
	[HEAP_PEAK] = "peak: allocations in this time, and those of them in use at the peak",
};

/* A session that profd gave up has sums for less time than was requested. A session that ended with
 * its process misses nothing. */
static bool was_given_up(const struct heap_figures *figures)
{
	return figures->end == HEAP_END_budget || figures->end == HEAP_END_memory;
}

/* The first comment, if something is missing. */
static void add_missing(struct builder *builder, const struct heap_facts *facts)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;
	const struct heap_figures *figures = facts->figures;
	uint64_t all = figures->samples + figures->dropped;

	if (!figures->dropped && !was_given_up(figures))
		return;
	buf_add_text(&text, PROFILE_INCOMPLETE);
	if (figures->dropped)
		buf_printf(&text,
		           "%" PRIu64 " of %" PRIu64
		           " samples were lost for lack of room: sums are too small; a larger "
		           "rate= takes fewer samples",
		           figures->dropped, all);
	if (was_given_up(figures))
		buf_printf(&text, "%sonly %.1f of %.1f s were watched: %s",
		           figures->dropped ? "; " : "", (double)figures->watched_ns / 1e9,
		           (double)facts->ask->length_ns / 1e9, figures->end_text);
	render_comment(builder, &text);
}

static void add_allocator(struct builder *builder, const struct heap_facts *facts)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;
	const struct heap_figures *figures = facts->figures;

	buf_printf(&text, "pid=%" PRIu32, facts->ask->pid);
	render_comment(builder, &text);
	buf_printf(&text, "allocator=%s",
	           facts->standing ? "sampled by the process itself" : figures->allocator);
	if (figures->file[0])
		buf_printf(&text, " in %s", figures->file);
	if (!facts->standing)
		buf_printf(&text, ", %" PRIu32 " probes", figures->sites);
	render_comment(builder, &text);
	if (figures->unread) {
		buf_printf(&text,
		           "incomplete: %" PRIu32
		           " of the process's files could not be searched for an allocator, "
		           "such as %s",
		           figures->unread, figures->unread_file);
		render_comment(builder, &text);
	}
	if (figures->rate_bytes) {
		buf_printf(&text, "rate_bytes=%" PRIu64, figures->rate_bytes);
		render_comment(builder, &text);
	}
	buf_printf(&text, "shows=%s", modes[facts->ask->mode]);
	render_comment(builder, &text);
}

static void add_coverage(struct builder *builder, const struct heap_facts *facts)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;
	const struct profile *profile = builder_view(builder);
	const struct heap_figures *figures = facts->figures;
	char from[TIME_TEXT_BYTES], to[TIME_TEXT_BYTES];

	text_format_time(profile->start_wall_ns, from);
	text_format_time(profile->start_wall_ns + profile->duration_ns, to);
	buf_printf(&text, "covers=%s..%s", from, to);
	render_comment(builder, &text);
	buf_printf(&text, "sampled=%" PRIu64 " freed=%" PRIu64 " lost=%" PRIu64, figures->samples,
	           figures->freed, figures->dropped);
	render_comment(builder, &text);
	if (figures->end == HEAP_END_full)
		return;
	buf_printf(&text, "ended early: %.1f of %.1f s: %s", (double)figures->watched_ns / 1e9,
	           (double)facts->ask->length_ns / 1e9, figures->end_text);
	render_comment(builder, &text);
}

/* "calls=10400 a second before and 11200 meanwhile, 520 ns each: the probes cost 0.6 % of a core;
 * the prediction was 0.5 %" */
static void add_cost(struct builder *builder, const struct heap_facts *facts)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;
	const struct heap_figures *figures = facts->figures;
	double seconds = (double)figures->watched_ns / 1e9;

	if (facts->standing)
		return;
	buf_printf(&text,
	           "calls=%.0f a second before and %.0f meanwhile, %.0f ns each: the probes cost "
	           "%.2f %% of a core; the prediction was %.2f %%",
	           figures->hits_per_second, seconds > 0 ? (double)figures->hits / seconds : 0,
	           figures->ns_per_hit, 100 * figures->actual_cost, 100 * figures->predicted_cost);
	render_comment(builder, &text);
}

void heap_describe(struct builder *builder, const void *ctx)
{
	const struct heap_facts *facts = ctx;

	add_missing(builder, facts);
	add_allocator(builder, facts);
	add_coverage(builder, facts);
	add_cost(builder, facts);
	if (!facts->no_native)
		render_quality(builder);
}
