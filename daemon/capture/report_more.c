/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/report_more.h"

#include "collect/memory_watch.h"
#include "ingest/source.h"
#include "profile/select.h"
#include "profile/sum.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct sum {
	enum profile_kind kind;
	size_t value;
	size_t label; /* of struct task */
	const char *of;
};

#define SUM(name, kind, value, label, of) {KIND_##kind, value, offsetof(struct task, label), of},
static const struct sum sums[REPORT_SUM_COUNT] = {REPORT_SUMS(SUM)};
#undef SUM

bool report_needs(enum profile_kind kind)
{
	for (size_t i = 0; i < REPORT_SUM_COUNT; i++)
		if (sums[i].kind == kind)
			return true;
	return false;
}

/* What processes held. Reports on all processes that are asked for together share one, since a host
 * may have thousands of processes. */
struct memory_ends {
	struct report_time time;
	uint32_t references;
	struct buf bytes; /* of struct timeline_ends */
};

/* Bytes of all reports under way; further ones do not tell of memory. */
enum { MAX_ENDS_BYTES = 2 << 20 };
static size_t ends_bytes;
static struct memory_ends *shared_ends;

static void ends_unref(struct memory_ends *ends)
{
	if (!ends || --ends->references)
		return;
	if (shared_ends == ends)
		shared_ends = NULL;
	ends_bytes -= ends->bytes.len;
	buf_release(&ends->bytes);
	free(ends);
}

static struct memory_ends *ends_new(const struct timeline *timeline,
                                    const struct selection *selection, bool is_of_all,
                                    const struct report_time *time)
{
	struct memory_ends *ends = calloc(1, sizeof(*ends));

	if (!ends)
		return NULL;
	*ends = (struct memory_ends){*time, 1, BUF_INIT};
	for (size_t i = 0; !is_of_all && i < selection->pid_count; i++)
		timeline_add_ends_of(timeline, selection->pids[i], time->from_mono_ns,
		                     time->to_mono_ns, &ends->bytes);
	if (is_of_all)
		timeline_add_ends(timeline, time->from_mono_ns, time->to_mono_ns, &ends->bytes);
	ends_bytes += ends->bytes.len;
	return ends;
}

static struct memory_ends *ends_of(const struct timeline *timeline,
                                   const struct selection *selection,
                                   const struct report_time *time)
{
	bool is_of_all = !selection->pid_count || selection->children;

	if (is_of_all && shared_ends && !memcmp(&shared_ends->time, time, sizeof(*time))) {
		shared_ends->references++;
		return shared_ends;
	}
	if (ends_bytes > MAX_ENDS_BYTES)
		return NULL;
	struct memory_ends *ends = ends_new(timeline, selection, is_of_all, time);
	if (ends && is_of_all)
		shared_ends = ends;
	return ends;
}

int report_more_read(const struct collector *collector, const struct history *history,
                     const struct selection *selection, const struct report_time *time,
                     struct report_more *ret_more)
{
	int err = 0;

	*ret_more = (struct report_more){.ends = NULL};
	for (size_t kind = 0; kind < KIND_COUNT && !err; kind++) {
		struct source_status status;

		if (!report_needs((enum profile_kind)kind))
			continue;
		collector_source(collector, kind, &status);
		ret_more->is_on[kind] = status.on;
		err = recorder_read(history_recorder(history, kind), time->from_mono_ns,
		                    time->to_mono_ns, &ret_more->slices[kind]);
	}
	ret_more->ends =
		ends_of(memory_watch_timeline(collector_memory(collector)), selection, time);
	return err;
}

void report_more_release(struct report_more *more)
{
	for (size_t kind = 0; kind < KIND_COUNT; kind++)
		slices_release(&more->slices[kind]);
	ends_unref(more->ends);
	more->ends = NULL;
}

struct adding {
	enum profile_kind kind;
	struct report_figures *figures;
};

static void add_sample(const struct profile *slice, const struct sample *sample, void *ctx)
{
	const char *task = (const char *)&slice->tasks[sample->task];
	struct adding *adding = ctx;

	for (size_t i = 0; i < REPORT_SUM_COUNT; i++) {
		const uint32_t *label = (const uint32_t *)(task + sums[i].label);

		if (sums[i].kind == adding->kind &&
		    (!sums[i].of || !strcmp(profile_string(slice, *label), sums[i].of)))
			sum_add(&adding->figures->sums[i].value, sample->values[sums[i].value]);
	}
}

static int compare_pids(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* The memory of the profile's processes, and of those that were named even if they did nothing. */
static int sum_memory(const struct report_more *more, const struct selection *selection,
                      const struct profile *profile, struct report_figures *figures)
{
	const struct timeline_ends *ends;
	size_t count = profile->task_count + selection->pid_count;
	_cleanup_free_ uint32_t *pids = calloc(count, sizeof(*pids));

	if (!pids)
		return -ENOMEM;
	if (!more->ends)
		return 0;
	ends = (const void *)more->ends->bytes.data;
	for (uint32_t i = 0; i < profile->task_count; i++)
		pids[i] = profile->tasks[i].pid;
	memcpy(pids + profile->task_count, selection->pids, selection->pid_count * sizeof(*pids));
	qsort(pids, count, sizeof(*pids), compare_pids);
	for (size_t i = 0; i < more->ends->bytes.len / sizeof(*ends); i++) {
		if (!bsearch(&ends[i].pid, pids, count, sizeof(*pids), compare_pids))
			continue;
		figures->processes++;
		figures->resident_bytes += ends[i].to_bytes;
		figures->resident_before += ends[i].from_bytes;
	}
	return 0;
}

int report_more_sum(const struct report_more *more, const struct selection *selection,
                    const struct profile *profile, struct report_figures *ret_figures)
{
	int err = 0;

	*ret_figures = (struct report_figures){0};
	for (size_t i = 0; i < REPORT_SUM_COUNT; i++)
		ret_figures->sums[i].is_known = more->is_on[sums[i].kind];
	for (size_t kind = 0; kind < KIND_COUNT && !err; kind++) {
		struct adding adding = {(enum profile_kind)kind, ret_figures};

		err = select_each(more->slices[kind].profiles, more->slices[kind].count, selection,
		                  add_sample, &adding);
	}
	return err ?: sum_memory(more, selection, profile, ret_figures);
}
