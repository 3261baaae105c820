/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Rendering, the slow part of every profile that is asked for.
 */
#include "capture/render.h"

#include "capture/task_names.h"
#include "profile/activity.h"
#include "profile/awaits.h"
#include "profile/quality.h"
#include "symbolize/source_cache.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
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

void render_comment(struct builder *builder, struct buf *text)
{
	builder_comment(builder, buf_text(text));
	buf_clear(text);
}

void render_quality(struct builder *builder)
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
	render_comment(builder, &text);
}

static void add_comments(struct builder *builder, const struct render_plan *plan)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT;

	buf_printf(&text, "host=%s", plan->host->nodename);
	render_comment(builder, &text);
	buf_printf(&text, "kernel=%s", plan->host->release);
	render_comment(builder, &text);
	buf_printf(&text, "profd=%s", PROFD_VERSION);
	render_comment(builder, &text);
	plan->describe(builder, plan->ctx);
}

struct source_files {
	struct symbolizer *symbolizer;
	struct source_cache *cache;
	uint32_t viewer;
};

static const char *source_line(void *ctx, const char *file, uint32_t line)
{
	struct source_files *files = ctx;
	struct source_root root;

	if (!symbolizer_knows_file(files->symbolizer, file, NULL, &root))
		return NULL;
	root.viewer = files->viewer;
	return source_cache_line(files->cache, &root, file, line);
}

static int encode(const struct render_plan *plan, const struct profile *profile, struct buf *out)
{
	_cleanup_(source_cache_freep) struct source_cache *cache =
		source_cache_new(&source_cache_budget, symbolizer_aside(plan->symbolizer));
	struct encode_options options = plan->options;
	struct source_files files = {plan->symbolizer, cache, plan->viewer};
	struct report_figures figures;
	int err;

	if (!cache)
		return -ENOMEM;
	if (plan->more) {
		err = report_more_sum(plan->more, plan->selection, profile, &figures);
		if (err)
			return err;
		options.figures = &figures;
	}
	options.source_line = source_line;
	options.source_ctx = &files;
	return plan->encoder->encode(profile, &options, out);
}

/* A name that no process or thread has is a mistake; one that has the name may just not have run.
 * Sample 0 is not a sample. */
static bool is_nobody(const struct selection *selection, const struct profile *profile)
{
	return selection->comm_count && profile->sample_count <= 1 &&
	       !task_names_any(selection->comms, selection->comm_count);
}

/* What threads do is told by frames that the selection may hide, so they are hidden after that. */
static int merge_by_activity(struct builder *into, const struct render_plan *plan)
{
	_cleanup_(builder_freep) struct builder *whole = builder_new();
	_cleanup_(profile_unrefp) struct profile *profile = NULL;
	struct selection all = *plan->selection, shown = *plan->selection;
	int err;

	all.no_kernel = all.no_native = false;
	all.loops = LOOPS_KEPT;
	all.locks = LOCKS_KEPT;
	shown.view = VIEW_NONE;
	shown.idle = false;
	if (!whole)
		return -ENOMEM;
	err = select_merge(whole, plan->slices, plan->slice_count, &all);
	if (!err)
		err = symbolizer_run(plan->symbolizer, whole);
	if (!err)
		err = activities_leave_out(whole, plan->selection);
	if (!err && plan->selection->tasks)
		err = awaits_join(whole);
	if (!err)
		err = builder_seal(whole, &profile);
	return err ?: select_merge(into, &profile, 1, &shown);
}

static int merge(struct builder *into, const struct render_plan *plan)
{
	if (activities_decide(plan->selection) && plan->slice_count)
		return merge_by_activity(into, plan);
	return select_merge(into, plan->slices, plan->slice_count, plan->selection);
}

int render_profile(const struct render_plan *plan, struct buf *out,
                   char ret_incomplete[RENDER_LINE_BYTES])
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	_cleanup_(profile_unrefp) struct profile *profile = NULL;
	const char *incomplete;
	int err;

	if (!builder)
		return -ENOMEM;
	add_host_mapping(builder, plan);
	err = merge(builder, plan);
	if (err)
		return err;
	if (is_nobody(plan->selection, builder_view(builder)))
		return -ESRCH;
	err = symbolizer_run(plan->symbolizer, builder);
	if (err)
		return err;
	if (plan->named)
		plan->named(builder);
	if (plan->describe)
		add_comments(builder, plan);
	err = builder_seal(builder, &profile);
	if (err)
		return err;
	incomplete = profile_incomplete(profile);
	snprintf(ret_incomplete, RENDER_LINE_BYTES, "%s", incomplete ? incomplete : "");
	return encode(plan, profile, out);
}
