/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Figures of other modules, in one line.
 */
#include "report.h"

#include "base/clock.h"
#include "collect/collector.h"
#include "profile/recorder.h"
#include "settings.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t recorded_bytes(const struct history *history)
{
	struct recorder_stats stats;
	uint64_t bytes = 0;

	for (size_t kind = 0; kind < KIND_COUNT; kind++) {
		recorder_get_stats(history_recorder(history, kind), &stats);
		bytes += stats.bytes;
	}
	return bytes;
}

void report_write(struct report *report, char ret_line[REPORT_BYTES])
{
	uint64_t now_ns = clock_mono_ns(), cpu_ns = collector_own_cpu_ns(report->collector);
	uint64_t took_ns = now_ns - report->mono_ns;
	double percent = took_ns ? 100.0 * (double)(cpu_ns - report->cpu_ns) / (double)took_ns : 0;
	struct collector_stats stats;
	char kept[SETTING_TEXT_BYTES];

	report->mono_ns = now_ns;
	report->cpu_ns = cpu_ns;
	collector_get_stats(report->collector, &stats);
	snprintf(ret_line, REPORT_BYTES,
	         "%" PRIu64 " Hz, %" PRIu32 " CPU%s, %.1f %% of a core, history %.16s (%" PRIu64
	         " MiB)",
	         report->config->sample_hz, stats.cpus_sampled, stats.cpus_sampled == 1 ? "" : "s",
	         percent, setting_text(setting_find("history"), report->config, 0, kept),
	         (uint64_t)(recorded_bytes(report->history) / MIB));
}
