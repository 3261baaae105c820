/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 *   Bound by the GIL: other threads of its interpreter run, 49.7 % of the working time
 *   Time: 2026-11-28T12:00:00Z, 60.0 s; 1.01 CPUs in use; 6012 samples of CPU time, 23154 waits
 *   Working time: 119.8 s of 2 threads; left out: 0.2 s waiting for work, 60.0 s of
 *   1 idle thread
 *   Memory: 61.20MiB resident, +1.50MiB since the beginning
 *   Disks: 0B read, 4.00KiB written, 1 requests
 *
 *      49.2 % +-0.9    user code
 *      49.7 %          wants the GIL
 *
 *   Where: its part, and the gain at most if that took no time
 *      31.0 %   1.45x  take_gil < _PyEval_EvalFrameDefault < spin < <module>
 */
#include "encode/report.h"

#include "base/clock.h"
#include "base/text.h"
#include "encode/bound.h"
#include "encode/names.h"
#include "encode/quantity.h"

#include <inttypes.h>

/* Of places that are shown. */
#define LEAST_PERCENT 0.1
enum { MOST_GAIN = 1000 };

static double seconds(uint64_t ns)
{
	return (double)ns / NSEC_PER_SEC;
}

static double percent(const struct bound *bound, uint64_t ns)
{
	return bound->total_ns ? 100.0 * (double)ns / (double)bound->total_ns : 0;
}

static void write_facts(const struct profile *profile, const struct bound *bound, struct buf *out)
{
	uint32_t working = bound->threads - bound->idle_threads;
	char start[TIME_TEXT_BYTES];

	text_format_time(profile->start_wall_ns, start);
	buf_printf(out,
	           "Time: %s, %.1f s; %.2f CPUs in use; %" PRIu64 " samples of CPU time, %" PRIu64
	           " waits\n",
	           start, seconds(profile->duration_ns),
	           profile->duration_ns ? (double)bound->cpu_ns / (double)profile->duration_ns : 0,
	           bound->ticks, bound->waits);
	buf_printf(out, "Working time: %.1f s of %u thread%s; left out: %.1f s waiting for work",
	           seconds(bound->total_ns), working, working == 1 ? "" : "s",
	           seconds(bound->ns[ACTIVITY_work]));
	if (bound->ns[ACTIVITY_unknown])
		buf_printf(out, ", %.1f s not known", seconds(bound->ns[ACTIVITY_unknown]));
	if (bound->idle_threads)
		buf_printf(out, ", %.1f s of %u idle thread%s", seconds(bound->idle_ns),
		           bound->idle_threads, bound->idle_threads == 1 ? "" : "s");
	buf_add_char(out, '\n');
}

/* Appends ", 12.00MiB read" or the like; nothing where the sum is not known. */
static bool add_sum(const struct report_figures *figures, enum report_sum sum, const char *unit,
                    const char *what, const char *before, struct buf *out)
{
	if (!figures->sums[sum].is_known)
		return false;
	buf_printf(out, "%s%s %s", before, quantity_of(figures->sums[sum].value, unit).text, what);
	return true;
}

static void write_memory(const struct report_figures *figures, struct buf *out)
{
	uint64_t now = figures->resident_bytes, before = figures->resident_before;

	if (!figures->processes)
		return;
	buf_printf(out, "Memory: %s resident, %s%s since the beginning\n",
	           quantity_of(now, "bytes").text, now < before ? "-" : "+",
	           quantity_of(now < before ? before - now : now - before, "bytes").text);
}

static void write_figures(const struct report_figures *figures, struct buf *out)
{
	write_memory(figures, out);
	if (add_sum(figures, REPORT_disk_read_bytes, "bytes", "read", "Disks: ", out)) {
		add_sum(figures, REPORT_disk_written_bytes, "bytes", "written", ", ", out);
		add_sum(figures, REPORT_disk_requests, "", "requests\n", ", ", out);
	}
	if (add_sum(figures, REPORT_minor_faults, "", "minor", "Page faults: ", out))
		add_sum(figures, REPORT_major_faults, "", "major\n", ", ", out);
	if (add_sum(figures, REPORT_switches, "", "switches", "Scheduler: ", out))
		add_sum(figures, REPORT_preemptions, "", "of them preemptions\n", ", ", out);
	if (!figures->sums[REPORT_gpu_launches].value &&
	    !figures->sums[REPORT_gpu_copied_bytes].value &&
	    !figures->sums[REPORT_gpu_wait_ns].value)
		return;
	add_sum(figures, REPORT_gpu_launches, "", "launches", "GPU: ", out);
	add_sum(figures, REPORT_gpu_copied_bytes, "bytes", "copied", ", ", out);
	add_sum(figures, REPORT_gpu_wait_ns, "nanoseconds", "waited for\n", ", ", out);
}

static void write_comments(const struct profile *profile, struct buf *out)
{
	const char *incomplete = profile_incomplete(profile);

	if (incomplete) {
		buf_add_text(out, "Incomplete: ");
		add_word(out, incomplete, 0);
		buf_add_char(out, '\n');
	}
}

static void write_activities(const struct bound *bound, struct buf *out)
{
	buf_add_char(out, '\n');
	for (size_t i = 0; i < ACTIVITY_unknown; i++) {
		double error = 100 * bound_error(bound, (enum activity)i);

		if (!bound->ns[i])
			continue;
		buf_printf(out, "%7.1f %%", percent(bound, bound->ns[i]));
		if (error > 0)
			buf_printf(out, " +-%-5.1f", error);
		else
			buf_add_text(out, "        ");
		buf_printf(out, "  %s\n", activity_titles[i]);
	}
}

static void write_places(const struct bound *bound, struct buf *out)
{
	if (!bound->places.count)
		return;
	buf_add_text(out, "\nWhere: its part, and the gain at most if that took no time\n");
	for (size_t i = 0; i < bound->places.count; i++) {
		double gain = bound->places.at[i].gain;

		if (percent(bound, bound->places.at[i].ns) < LEAST_PERCENT)
			break;
		buf_printf(out, "%7.1f %%", percent(bound, bound->places.at[i].ns));
		if (gain >= MOST_GAIN)
			buf_printf(out, "  >%4dx", MOST_GAIN);
		else
			buf_printf(out, " %6.2fx", gain);
		buf_printf(out, "  %s\n", bound->places.at[i].text);
	}
}

static int encode_report(const struct profile *profile, const struct encode_options *options,
                         struct buf *out)
{
	_cleanup_(bound_release) struct bound bound;
	int err = bound_find(profile, &bound);

	if (err)
		return err;
	bound_write_verdict(&bound, out);
	buf_add_char(out, '\n');
	write_facts(profile, &bound, out);
	if (options->figures)
		write_figures(options->figures, out);
	write_comments(profile, out);
	write_activities(&bound, out);
	write_places(&bound, out);
	return buf_error(out);
}

const struct encoder encoder_report_text = {
	.name = "text",
	.summary = "a text to read",
	.content_type = "text/plain; charset=utf-8",
	.suffix = "",
	.encode = encode_report,
};
