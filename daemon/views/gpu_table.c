/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The /gpu answer as tables for people at a terminal.
 */
#include "views/gpu_view.h"

#include "base/clean.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { CELL = 24 };

static const char *bytes_text(double bytes, char cell[CELL])
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	size_t unit = 0;
	double size = bytes < 0 ? -bytes : bytes;

	while (size >= 1024 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		size /= 1024;
		unit++;
	}
	snprintf(cell, CELL, "%s%.*f %s", bytes < 0 ? "-" : "", unit ? 1 : 0, size, units[unit]);
	return cell;
}

static const char *known_bytes(uint64_t bytes, char cell[CELL])
{
	return bytes == NVML_BYTES_UNKNOWN ? "?" : bytes_text((double)bytes, cell);
}

static const char *percent_text(uint32_t percent, char cell[CELL])
{
	if (percent == NVML_PERCENT_UNKNOWN)
		return "?";
	snprintf(cell, CELL, "%" PRIu32 " %%", percent);
	return cell;
}

/* The name may be any bytes; it is made harmless for terminals. */
static void add_name(struct buf *out, const char *bytes, size_t size)
{
	char name[NVML_TEXT + 1] = "";

	memcpy(name, bytes, strnlen(bytes, size < NVML_TEXT ? size : NVML_TEXT));
	clean_text(name);
	buf_printf(out, "  %s\n", name);
}

static void add_devices(const struct gpu_view *view, struct buf *out)
{
	const struct nvml_report *report = view->report;
	char used[CELL], total[CELL], busy[CELL], memory[CELL];

	if (!report) {
		buf_printf(out, "NVML: %s\n\n", view->nvml_why);
		return;
	}
	buf_printf(out, "%6s %6s %8s %11s %11s  name\n", "device", "busy", "mem.busy", "used",
	           "memory");
	for (uint32_t i = 0; i < report->device_count; i++) {
		const struct nvml_device *device = &report->devices[i];

		buf_printf(out, "%6" PRIu32 " %6s %8s %11s %11s", i,
		           percent_text(device->busy_percent, busy),
		           percent_text(device->memory_percent, memory),
		           known_bytes(device->used, used), known_bytes(device->total, total));
		add_name(out, device->name, NVML_TEXT);
	}
	if (report->devices_left_out || report->processes_left_out)
		buf_printf(out,
		           "Left out: %" PRIu32 " devices, and %" PRIu32 " of their processes\n",
		           report->devices_left_out, report->processes_left_out);
	buf_add_char(out, '\n');
}

static void add_processes(const struct gpu_view *view, struct buf *out)
{
	char in_use[CELL], peak[CELL], to[CELL], from[CELL];

	if (view->why[0])
		buf_printf(out, "Probes: %s\n", view->why);
	buf_printf(out, "%7s %7s %11s %11s %10s %11s %11s %6s %6s  process\n", "pid", "device",
	           "in use", "peak", "launches/s", "HtoD/s", "DtoH/s", "wait", "failed");
	for (size_t i = 0; i < view->count; i++) {
		const struct gpu_figures *figures = &view->figures[i];
		char device[16];

		gpu_view_device(figures->device, device);
		buf_printf(out, "%7" PRIu32 " %7s %11s %11s %10.0f %11s %11s %5.0f%% %6" PRIu64,
		           figures->pid, device,
		           bytes_text((double)gpu_view_in_use(figures), in_use),
		           bytes_text((double)figures->peak, peak), figures->launches_s,
		           bytes_text(figures->copied_bytes_s[GPU_COPY_H2D], to),
		           bytes_text(figures->copied_bytes_s[GPU_COPY_D2H], from),
		           100 * figures->waits_share, figures->failures);
		add_name(out, figures->comm, sizeof(figures->comm));
	}
}

static void add_driver(const struct gpu_view *view, struct buf *out)
{
	char used[CELL], explained[CELL], rest[CELL], busy[CELL];

	if (!view->report || !view->report->process_count)
		return;
	buf_printf(out, "\n%7s %6s %11s %11s %11s  process\n", "pid", "busy", "driver", "explained",
	           "unexplained");
	for (uint32_t i = 0; i < view->report->process_count; i++) {
		struct gpu_driver_row row = gpu_view_driver(view, i);
		double left = (double)row.used - (double)row.explained;

		if (!row.first)
			continue;
		buf_printf(out, "%7" PRIu32 " %6s %11s %11s %11s", row.pid,
		           percent_text(row.busy_percent, busy),
		           row.known ? bytes_text((double)row.used, used) : "?",
		           bytes_text((double)row.explained, explained),
		           row.known ? bytes_text(left, rest) : "?");
		add_name(out, row.comm, TASK_COMM_BYTES);
	}
	buf_printf(out, "\nUnexplained: %s.\n", gpu_view_unexplained);
}

void gpu_view_text(const struct gpu_view *view, struct buf *out)
{
	add_devices(view, out);
	add_processes(view, out);
	add_driver(view, out);
}
