/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Rendering: the slow half of a /profile request.
 */
#include "http/render.h"

#include "base/clock.h"
#include "http/timestamp.h"
#include "profile/quality.h"
#include "symbolize/source_text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static void add_host_mapping(struct builder *builder, const struct render_plan *plan)
{
	_cleanup_(buf_release) struct buf name = BUF_INIT;
	struct mapping mapping = {.kind = MAPPING_PSEUDO};

	/* pprof takes a profile's title from its first mapping. */
	buf_printf(&name, "[host %s]", plan->host->nodename);
	mapping.path = builder_text(builder, buf_text(&name));
	builder_mapping(builder, &mapping);
}

/* A profile of a time in which nothing ran is still a profile. */
static void add_empty_profile(struct builder *builder, const struct render_plan *plan)
{
	builder_value_type(builder, "samples", "count");
	builder_value_type(builder, "cpu", "nanoseconds");
	builder_period(builder, "cpu", "nanoseconds", NSEC_PER_SEC / plan->sample_hz);
	builder_time(builder, plan->from_mono_ns, plan->from_mono_ns + plan->wall_offset_ns,
	             plan->to_mono_ns - plan->from_mono_ns);
}

static void comment(struct builder *builder, struct buf *text)
{
	builder_comment(builder, buf_text(text));
	buf_clear(text);
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
	if (selection->idle)
		buf_add_text(&text, " idle=1");
	if (text.len) {
		_cleanup_(buf_release) struct buf line = BUF_INIT;

		buf_printf(&line, "filter:%s", buf_text(&text));
		builder_comment(builder, buf_text(&line));
	}
}

static void add_coverage(struct builder *builder, const struct render_plan *plan)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;
	const struct profile *profile = builder_view(builder);
	uint64_t duration_ns = profile->duration_ns;
	uint64_t asked_ns = plan->to_mono_ns - plan->from_mono_ns;
	struct ticks ticks = profile->ticks;
	char from[TIMESTAMP_BYTES], to[TIMESTAMP_BYTES];

	timestamp_format(profile->start_wall_ns, from);
	timestamp_format(profile->start_wall_ns + duration_ns, to);
	buf_printf(&text, "ticks=%" PRIu64 " idle=%" PRIu64 " samples=%" PRIu64 " lost=%" PRIu64,
	           ticks.total, ticks.idle, ticks.total - ticks.idle - ticks.lost, ticks.lost);
	comment(builder, &text);
	buf_printf(&text, "covers=%s..%s", from, to);
	comment(builder, &text);
	if (asked_ns > duration_ns + NSEC_PER_SEC) {
		buf_printf(&text, "shorter than asked: %llu of %llu s are recorded",
		           duration_ns / NSEC_PER_SEC, asked_ns / NSEC_PER_SEC);
		comment(builder, &text);
	}
}

/* "stacks complete 99.84 % of 1234; cut short: 2 no unwind information" */
static void add_quality(struct builder *builder)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;
	const struct profile *profile = builder_view(builder);
	struct quality quality;

	if (quality_of(profile, &quality) || !quality.stacks)
		return;
	buf_printf(&text, "stacks complete %.2f %% of %" PRIu64,
	           100.0 * (double)quality.complete / (double)quality.stacks, quality.stacks);
	for (size_t i = 0; i < quality.cut_count; i++) {
		const char *reason = profile_string(profile, quality.cuts[i].name);

		reason += strlen(CUT_FRAME);
		buf_printf(&text, "%s%" PRIu64 " %.*s",
		           i ? ", " : "; cut short: ", quality.cuts[i].samples,
		           (int)strcspn(reason, "]"), reason);
	}
	comment(builder, &text);
}

static void add_comments(struct builder *builder, const struct render_plan *plan)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;

	buf_printf(&text, "host=%s", plan->host->nodename);
	comment(builder, &text);
	buf_printf(&text, "kernel=%s", plan->host->release);
	comment(builder, &text);
	buf_printf(&text, "profd=%s", PROFD_VERSION);
	comment(builder, &text);
	buf_printf(&text, "sample_hz=%" PRIu32, plan->sample_hz);
	comment(builder, &text);
	buf_printf(&text, "event=%s", plan->event);
	comment(builder, &text);
	add_coverage(builder, plan);
	add_quality(builder);
	add_filters(builder, &plan->query->selection);
}

struct sources {
	struct symbolizer *symbolizer;
	struct source_cache *cache;
};

static const char *source_line(void *ctx, const char *file, uint32_t line)
{
	struct sources *sources = ctx;
	uint32_t pid;

	if (!symbolizer_knows_file(sources->symbolizer, file, &pid))
		return NULL;
	return source_cache_line(sources->cache, pid, file, line);
}

static int encode(const struct render_plan *plan, const struct profile *profile, struct buf *out)
{
	_cleanup_(source_cache_freep) struct source_cache *cache = source_cache_new();
	struct encode_options options = plan->query->options;
	struct sources sources = {plan->symbolizer, cache};

	if (!cache)
		return -ENOMEM;
	options.source_line = source_line;
	options.source_ctx = &sources;
	return plan->query->encoder->encode(profile, &options, out);
}

int render_profile(const struct render_plan *plan, struct buf *out)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	_cleanup_(profile_unrefp) struct profile *profile = NULL;
	int err;

	if (!builder)
		return -ENOMEM;
	add_host_mapping(builder, plan);
	err = select_merge(builder, plan->slices, plan->slice_count, &plan->query->selection);
	if (err)
		return err;
	if (!plan->slice_count)
		add_empty_profile(builder, plan);
	err = symbolizer_run(plan->symbolizer, builder);
	if (err)
		return err;
	add_comments(builder, plan);
	err = builder_seal(builder, &profile);
	if (err)
		return err;
	return encode(plan, profile, out);
}
