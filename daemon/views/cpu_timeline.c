/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Makes a timeline from slices in two passes: the first adds up the time of each process, to choose
 * the rows; the second distributes it over the steps.
 */
#include "views/cpu_timeline.h"

#include "base/table.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum { CPU_VALUE = 1 }; /* index into a CPU sample's values: nanoseconds */

struct total {
	uint32_t id; /* of a process or a thread */
	uint32_t pid;
	const char *name;
	uint64_t ns;
	uint64_t slice_ns; /* in the slice being processed */
	size_t row;        /* index of its row; the number of rows: it has none */
	UT_hash_handle hh;
};

struct building {
	const struct cpu_timeline_query *ask;
	const struct cpu_timeline_span *span;
	struct total *totals; /* by id */
	struct cpu_timeline *out;
};

static uint64_t span_end(const struct cpu_timeline_span *span)
{
	return span->from_mono_ns + span->step_ns * span->steps;
}

/* How much of `ns`, spread evenly over the slice, lies before `at`. */
static uint64_t used_before(const struct profile *slice, uint64_t ns, uint64_t at)
{
	uint64_t start = slice->start_mono_ns;

	if (at <= start)
		return 0;
	if (at - start >= slice->duration_ns)
		return ns;
	return (uint64_t)((__uint128_t)ns * (at - start) / slice->duration_ns);
}

static uint64_t used_within(const struct profile *slice, uint64_t ns, uint64_t from, uint64_t to)
{
	return used_before(slice, ns, to) - used_before(slice, ns, from);
}

/* Finds the entry of a task, or adds one; NULL when out of memory. */
static struct total *total_of(struct building *building, const struct profile *slice,
                              const struct task *task)
{
	bool threads = building->ask->pid != 0;
	uint32_t id = threads ? task->tid : task->pid;
	struct total *total;

	HASH_FIND(hh, building->totals, &id, sizeof(id), total);
	if (!total) {
		total = calloc(1, sizeof(*total));
		if (!total)
			return NULL;
		total->id = id;
		total->pid = task->pid;
		HASH_ADD(hh, building->totals, id, sizeof(id), total);
		if (!total->hh.tbl) {
			free(total);
			return NULL;
		}
	}
	/* The latest name, which differs after an exec. */
	total->name = profile_string(slice, threads ? task->thread : task->comm);
	return total;
}

/* Sets `slice_ns` to the time that each process used in this slice. */
static int add_slice(struct building *building, const struct profile *slice)
{
	for (struct total *total = building->totals; total; total = total->hh.next)
		total->slice_ns = 0;
	for (uint32_t i = 1; i < slice->sample_count; i++) {
		const struct sample *sample = &slice->samples[i];
		const struct task *task = &slice->tasks[sample->task];
		struct total *total;

		if (building->ask->pid && task->pid != building->ask->pid)
			continue;
		total = total_of(building, slice, task);
		if (!total)
			return -ENOMEM;
		total->slice_ns += sample->values[CPU_VALUE];
	}
	return 0;
}

static int by_ns(struct total *a, struct total *b)
{
	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	return (a->id > b->id) - (a->id < b->id);
}

static int rank(struct building *building, struct profile *const *slices, size_t slice_count)
{
	const struct cpu_timeline_span *span = building->span;

	for (size_t i = 0; i < slice_count; i++) {
		int err = add_slice(building, slices[i]);

		if (err)
			return err;
		for (struct total *total = building->totals; total; total = total->hh.next)
			total->ns += used_within(slices[i], total->slice_ns, span->from_mono_ns,
			                         span_end(span));
	}
	HASH_SORT(building->totals, by_ns);
	return 0;
}

static int make_rows(struct building *building)
{
	struct cpu_timeline *out = building->out;
	size_t steps = building->span->steps;

	for (struct total *total = building->totals; total; total = total->hh.next)
		out->count += total->ns && out->count < building->ask->top;
	out->rows = calloc(out->count + 1, sizeof(*out->rows));
	out->cells = calloc((out->count + 1) * steps + 1, sizeof(*out->cells));
	if (!out->rows || !out->cells)
		return -ENOMEM;
	out->other = out->cells + out->count * steps;
	for (size_t i = 0; i < out->count; i++)
		out->rows[i].cpu = out->cells + i * steps;
	return 0;
}

static void fill_rows(struct building *building)
{
	struct cpu_timeline *out = building->out;
	size_t row = 0;

	for (struct total *total = building->totals; total; total = total->hh.next) {
		total->row = row < out->count ? row++ : out->count;
		if (total->row == out->count)
			continue;
		out->rows[total->row].pid = total->pid;
		out->rows[total->row].tid = building->ask->pid ? total->id : 0;
		out->rows[total->row].name = total->name;
		out->rows[total->row].total = total->ns;
	}
}

static void spread(const struct building *building, const struct profile *slice,
                   const struct total *total)
{
	const struct cpu_timeline_span *span = building->span;
	uint64_t end = slice->start_mono_ns + slice->duration_ns;
	uint64_t *cells = building->out->cells + total->row * span->steps;
	size_t step = 0;

	if (slice->start_mono_ns > span->from_mono_ns)
		step = (slice->start_mono_ns - span->from_mono_ns) / span->step_ns;
	for (; step < span->steps; step++) {
		uint64_t from = span->from_mono_ns + span->step_ns * step;

		if (from > end)
			break;
		cells[step] += used_within(slice, total->slice_ns, from, from + span->step_ns);
	}
}

static int fill_cells(struct building *building, struct profile *const *slices, size_t slice_count)
{
	for (size_t i = 0; i < slice_count; i++) {
		int err = add_slice(building, slices[i]);

		if (err)
			return err;
		for (struct total *total = building->totals; total; total = total->hh.next)
			if (total->slice_ns)
				spread(building, slices[i], total);
	}
	return 0;
}

int cpu_timeline_build(const struct cpu_timeline_query *ask, const struct cpu_timeline_span *span,
                       struct profile *const *slices, size_t slice_count,
                       struct cpu_timeline *ret_timeline)
{
	struct cpu_timeline timeline = {0};
	struct building building = {.ask = ask, .span = span, .out = &timeline};
	struct total *total, *next;
	int err;

	err = rank(&building, slices, slice_count);
	if (!err)
		err = make_rows(&building);
	if (!err) {
		fill_rows(&building);
		err = fill_cells(&building, slices, slice_count);
	}
	HASH_ITER (hh, building.totals, total, next) {
		HASH_DELETE(hh, building.totals, total);
		free(total);
	}
	if (err)
		cpu_timeline_release(&timeline);
	else
		*ret_timeline = timeline;
	return err;
}

void cpu_timeline_release(struct cpu_timeline *timeline)
{
	free(timeline->rows);
	free(timeline->cells);
	*timeline = (struct cpu_timeline){0};
}
