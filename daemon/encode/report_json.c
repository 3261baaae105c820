/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The same as report_text.c for programs. Shares are parts of 1.
 */
#include "encode/report.h"

#include "base/clock.h"
#include "encode/bound.h"
#include "encode/names.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>

#define SUM(name, kind, value, label, of) #name,
static const char *const names[] = {REPORT_SUMS(SUM)};
#undef SUM

static json_t *real(double number)
{
	return isfinite(number) ? json_real(number) : json_null();
}

static json_t *share(const struct bound *bound, uint64_t ns)
{
	return json_real(bound->total_ns ? (double)ns / (double)bound->total_ns : 0);
}

static json_t *seconds(uint64_t ns)
{
	return json_real((double)ns / NSEC_PER_SEC);
}

static json_t *activities(const struct bound *bound)
{
	json_t *object = json_object();

	for (size_t i = 0; i < ACTIVITY_unknown; i++)
		if (bound->ns[i])
			json_object_set_new(object, activity_names[i],
			                    json_pack("{s:s, s:o, s:o, s:f}", "title",
			                              activity_titles[i], "seconds",
			                              seconds(bound->ns[i]), "share",
			                              share(bound, bound->ns[i]), "error",
			                              bound_error(bound, (enum activity)i)));
	return object;
}

static json_t *places(const struct bound *bound)
{
	json_t *array = json_array();

	for (size_t i = 0; i < bound->places.count; i++)
		json_array_append_new(array, json_pack("{s:s, s:o, s:o}", "stack",
		                                       bound->places.at[i].text, "share",
		                                       share(bound, bound->places.at[i].ns),
		                                       "speedup", real(bound->places.at[i].gain)));
	return array;
}

static json_t *number_or_null(bool is_known, uint64_t number)
{
	return is_known ? json_integer((json_int_t)number) : json_null();
}

static json_t *figures_json(const struct report_figures *figures)
{
	json_t *object = json_object();

	if (!figures)
		return object;
	for (size_t i = 0; i < REPORT_SUM_COUNT; i++)
		json_object_set_new(
			object, names[i],
			number_or_null(figures->sums[i].is_known, figures->sums[i].value));
	json_object_set_new(object, "resident_bytes",
	                    number_or_null(figures->processes, figures->resident_bytes));
	json_object_set_new(object, "resident_bytes_before",
	                    number_or_null(figures->processes, figures->resident_before));
	return object;
}

static json_t *report(const struct profile *profile, const struct report_figures *figures,
                      const struct bound *bound)
{
	_cleanup_(buf_release) struct buf incomplete = BUF_INIT, verdict = BUF_INIT;
	double duration = (double)profile->duration_ns;

	bound_write_verdict(bound, &verdict);
	add_utf8(&incomplete, profile_incomplete(profile) ?: "");
	return json_pack(
		"{s:s, s:s?, s:o, s:b, s:I, s:o, s:f, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:s, "
		"s:o, s:o, s:o}",
		"verdict", buf_text(&verdict), "bound_by",
		bound->is_unsure ? NULL : bound_names[bound->kind], "share",
		share(bound, bound->kind_ns), "enough_samples", !bound->is_unsure, "start_ms",
		(json_int_t)(profile->start_wall_ns / NSEC_PER_MSEC), "seconds",
		seconds(profile->duration_ns), "cpus",
		duration > 0 ? (double)bound->cpu_ns / duration : 0.0, "cpu_samples",
		(json_int_t)bound->ticks, "waits", (json_int_t)bound->waits, "threads",
		(json_int_t)bound->threads, "idle_threads", (json_int_t)bound->idle_threads,
		"idle_seconds", seconds(bound->idle_ns), "unknown_seconds",
		seconds(bound->ns[ACTIVITY_unknown]), "working_seconds", seconds(bound->total_ns),
		"waiting_for_work_seconds", seconds(bound->ns[ACTIVITY_work]), "incomplete",
		buf_text(&incomplete), "activities", activities(bound), "places", places(bound),
		"figures", figures_json(figures));
}

static int encode_report(const struct profile *profile, const struct encode_options *options,
                         struct buf *out)
{
	_cleanup_(bound_release) struct bound bound;
	int err = bound_find(profile, &bound);
	json_t *root;
	char *text;

	if (err)
		return err;
	root = report(profile, options->figures, &bound);
	text = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) : NULL;
	json_decref(root);
	if (!text)
		return -ENOMEM;
	buf_add_text(out, text);
	buf_add_char(out, '\n');
	free(text);
	return buf_error(out);
}

const struct encoder encoder_report_json = {
	.name = "json",
	.summary = "the same for programs",
	.content_type = "application/json",
	.suffix = "",
	.encode = encode_report,
};
