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

/* In one pass, because this may be done for all processes of the host. */
static void read_series(const struct adding *adding, const struct series *series,
                        struct timeline_ends *ends)
{
	struct series_cursor cursor = series_begin(series);
	struct memory_figures from = series->first.figures, to = from;
	struct series_point point;

	while (series_next(&cursor, &point) && point.ms <= adding->to_ms) {
		to = point.figures;
		if (point.ms <= adding->from_ms)
			from = to;
	}
	ends->from_bytes = memory_resident(&from);
	ends->to_bytes = memory_resident(&to);
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

	if (!process->series.count || !has_begun(adding, process, adding->to_ms) ||
	    (process->ended && process->alive_ms < adding->from_ms))
		return;
	read_series(adding, &process->series, &ends);
	if (!has_begun(adding, process, adding->from_ms))
		ends.from_bytes = 0;
	if (process->ended && process->alive_ms < adding->to_ms)
		ends.to_bytes = 0;
	buf_add(adding->out, &ends, sizeof(ends));
}

static struct adding adding_of(uint64_t from_mono_ns, uint64_t to_mono_ns, struct buf *out)
{
	uint64_t mono_ns = clock_mono_ns(); /* before CLOCK_BOOTTIME, which is never behind it */

	return (struct adding){
		.from_ms = from_mono_ns / NSEC_PER_MSEC,
		.to_ms = to_mono_ns / NSEC_PER_MSEC,
		.suspended_ms = (clock_boot_ns() - mono_ns) / NSEC_PER_MSEC,
		.ticks_per_s = (uint64_t)sysconf(_SC_CLK_TCK),
		.out = out,
	};
}

void timeline_add_ends(const struct timeline *timeline, uint64_t from_mono_ns, uint64_t to_mono_ns,
                       struct buf *out)
{
	struct adding adding = adding_of(from_mono_ns, to_mono_ns, out);

	timeline_each(timeline, add_ends, &adding);
}

void timeline_add_ends_of(const struct timeline *timeline, uint32_t pid, uint64_t from_mono_ns,
                          uint64_t to_mono_ns, struct buf *out)
{
	struct adding adding = adding_of(from_mono_ns, to_mono_ns, out);
	const struct timeline_process *process = timeline_find(timeline, pid);

	if (process)
		add_ends(process, &adding);
}
