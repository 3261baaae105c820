/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "memory/timeline_ends.h"

#include "base/clock.h"

#include <unistd.h>

struct adding {
	uint64_t from_ms, to_ms;
	uint64_t suspended_ms; /* CLOCK_BOOTTIME, by which processes begin, less CLOCK_MONOTONIC */
	uint64_t ticks_per_s;  /* of the times at which processes begin */
	struct buf *out;
};

static uint64_t resident_at(const struct series *series, uint64_t ms)
{
	struct series_cursor cursor = series_begin(series);
	struct memory_figures held = series->first.figures;
	struct series_point point;

	while (series_next(&cursor, &point) && point.ms <= ms)
		held = point.figures;
	return memory_resident(&held);
}

static bool has_begun(const struct adding *adding, const struct timeline_process *process,
                      uint64_t ms)
{
	return process->start_ticks * 1000 / adding->ticks_per_s <= ms + adding->suspended_ms;
}

static void add_ends(const struct timeline_process *process, void *ctx)
{
	const struct adding *adding = ctx;
	struct timeline_ends ends = {.pid = process->pid};

	if (!process->series.count || (process->ended && process->alive_ms < adding->from_ms))
		return;
	if (has_begun(adding, process, adding->from_ms))
		ends.from_bytes = resident_at(&process->series, adding->from_ms);
	if (!process->ended || process->alive_ms >= adding->to_ms)
		ends.to_bytes = resident_at(&process->series, adding->to_ms);
	buf_add(adding->out, &ends, sizeof(ends));
}

void timeline_add_ends(const struct timeline *timeline, uint64_t from_mono_ns, uint64_t to_mono_ns,
                       struct buf *out)
{
	uint64_t mono_ns = clock_mono_ns(); /* before CLOCK_BOOTTIME, which is never behind it */
	struct adding adding = {
		.from_ms = from_mono_ns / NSEC_PER_MSEC,
		.to_ms = to_mono_ns / NSEC_PER_MSEC,
		.suspended_ms = (clock_boot_ns() - mono_ns) / NSEC_PER_MSEC,
		.ticks_per_s = (uint64_t)sysconf(_SC_CLK_TCK),
		.out = out,
	};

	timeline_each(timeline, add_ends, &adding);
}
