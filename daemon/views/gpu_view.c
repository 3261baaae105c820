/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A row of NVML's report is for a process on one of its devices. A process is compared as a whole,
 * because NVML numbers devices differently.
 */
#include "views/gpu_view.h"

#include "base/clock.h"
#include "http/json.h"

#include <stdio.h>
#include <string.h>

const char gpu_view_unexplained[] =
	"memory that the driver reports for a process, minus its known allocations: contexts, "
	"code, memory of libraries, graphs, and allocations from before profd watched; negative "
	"where managed memory is on the host";

#define MEMORY(name, text) text,
static const char *const memory_texts[] = {GPU_MEMORIES(MEMORY)};
#undef MEMORY
#define DIRECTION(name, text) text,
static const char *const direction_texts[] = {GPU_DIRECTIONS(DIRECTION)};
#undef DIRECTION

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)(value < INT64_MAX ? value : INT64_MAX));
}

static json_t *number_or_null(uint64_t value, uint64_t unknown)
{
	return value == unknown ? json_null() : number(value);
}

static json_t *text_json(const char *bytes, size_t size)
{
	return json_text(bytes, strnlen(bytes, size));
}

/* Rounds to a thousandth: further digits would be noise. */
static json_t *rate(double value)
{
	return json_real((double)(uint64_t)(value * 1000 + 0.5) / 1000);
}

uint64_t gpu_view_in_use(const struct gpu_figures *figures)
{
	uint64_t sum = 0;

	for (int memory = 0; memory < GPU_MEMORY_COUNT; memory++)
		if (memory != GPU_MEMORY_TENSOR)
			sum += figures->in_use[memory];
	return sum;
}

/* The part that the driver counts as well: without host memory. */
static uint64_t explained(const struct gpu_figures *figures)
{
	return gpu_view_in_use(figures) - figures->in_use[GPU_MEMORY_PINNED] -
	       figures->in_use[GPU_MEMORY_REGISTERED];
}

void gpu_view_device(uint8_t device, char ret_name[16])
{
	if (device == GPU_DEVICE_HOST)
		snprintf(ret_name, 16, "cpu");
	else if (device == GPU_DEVICE_UNKNOWN)
		snprintf(ret_name, 16, "unknown");
	else
		snprintf(ret_name, 16, "%u", device);
}

static json_t *in_use_json(const struct gpu_figures *figures)
{
	json_t *object = json_object();

	for (int memory = 0; memory < GPU_MEMORY_COUNT; memory++)
		if (figures->in_use[memory])
			json_object_set_new(object, memory_texts[memory],
			                    number(figures->in_use[memory]));
	return object;
}

static json_t *copies_json(const struct gpu_figures *figures)
{
	json_t *object = json_object();

	for (int direction = 0; direction < GPU_DIRECTION_COUNT; direction++)
		if (figures->copies[direction])
			json_object_set_new(object, direction_texts[direction],
			                    json_pack("{s:I, s:I, s:o}", "count",
			                              (json_int_t)figures->copies[direction],
			                              "bytes",
			                              (json_int_t)figures->copied_bytes[direction],
			                              "bytes_per_second",
			                              rate(figures->copied_bytes_s[direction])));
	return object;
}

static json_t *figures_json(const struct gpu_figures *figures)
{
	json_t *object = json_object();
	char device[16];

	gpu_view_device(figures->device, device);
	json_object_set_new(object, "pid", number(figures->pid));
	json_object_set_new(object, "comm", text_json(figures->comm, sizeof(figures->comm)));
	json_object_set_new(object, "device", json_string(device));
	json_object_set_new(object, "in_use_bytes", number(gpu_view_in_use(figures)));
	json_object_set_new(object, "in_use", in_use_json(figures));
	json_object_set_new(object, "peak_bytes", number(figures->peak));
	json_object_set_new(object, "tensors_allocated_bytes", number(figures->tensors_allocated));
	json_object_set_new(object, "tensors_reserved_bytes", number(figures->tensors_reserved));
	json_object_set_new(object, "allocations", number(figures->allocations));
	json_object_set_new(object, "frees", number(figures->frees));
	json_object_set_new(object, "failures", number(figures->failures));
	json_object_set_new(object, "launches", number(figures->launches));
	json_object_set_new(object, "launches_per_second", rate(figures->launches_s));
	json_object_set_new(object, "copies", copies_json(figures));
	json_object_set_new(object, "waits", number(figures->waits));
	json_object_set_new(object, "wait_seconds",
	                    json_real((double)figures->wait_ns / NSEC_PER_SEC));
	json_object_set_new(object, "wait_share", rate(figures->waits_share));
	return object;
}

/* The library may report any number, so sums are capped at the largest that JSON integers hold. */
static uint64_t add_bounded(uint64_t sum, uint64_t bytes)
{
	return bytes < INT64_MAX - sum ? sum + bytes : INT64_MAX;
}

struct gpu_driver_row gpu_view_driver(const struct gpu_view *view, uint32_t index)
{
	const struct nvml_report *report = view->report;
	struct gpu_driver_row row = {.pid = report->processes[index].pid,
	                             .first = true,
	                             .known = true,
	                             .busy_percent = NVML_PERCENT_UNKNOWN,
	                             .comm = ""};

	for (uint32_t i = 0; i < report->process_count; i++) {
		const struct nvml_process *process = &report->processes[i];

		if (process->pid != row.pid)
			continue;
		row.first &= i >= index;
		row.known &= process->used != NVML_BYTES_UNKNOWN;
		row.used = add_bounded(row.used, process->used);
		if (process->busy_percent != NVML_PERCENT_UNKNOWN &&
		    (row.busy_percent == NVML_PERCENT_UNKNOWN ||
		     process->busy_percent > row.busy_percent))
			row.busy_percent = process->busy_percent;
	}
	for (size_t i = 0; i < view->count; i++) {
		if (view->figures[i].pid != row.pid)
			continue;
		row.explained += explained(&view->figures[i]);
		row.comm = view->figures[i].comm;
	}
	return row;
}

static json_t *driver_json(const struct gpu_view *view)
{
	json_t *list = json_array();

	for (uint32_t i = 0; view->report && i < view->report->process_count; i++) {
		struct gpu_driver_row row = gpu_view_driver(view, i);

		if (!row.first)
			continue;
		json_array_append_new(
			list,
			json_pack("{s:I, s:o, s:o, s:I, s:o, s:o}", "pid", (json_int_t)row.pid,
		                  "comm", text_json(row.comm, TASK_COMM_BYTES), "driver_bytes",
		                  row.known ? number(row.used) : json_null(), "explained_bytes",
		                  (json_int_t)row.explained, "unexplained_bytes",
		                  row.known ? json_integer((json_int_t)(row.used - row.explained))
		                            : json_null(),
		                  "busy_percent",
		                  number_or_null(row.busy_percent, NVML_PERCENT_UNKNOWN)));
	}
	return list;
}

static json_t *devices_json(const struct nvml_report *report)
{
	json_t *list = json_array();

	for (uint32_t i = 0; report && i < report->device_count; i++) {
		const struct nvml_device *device = &report->devices[i];

		json_array_append_new(
			list,
			json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "index", (json_int_t)i,
		                  "name", text_json(device->name, NVML_TEXT), "uuid",
		                  text_json(device->uuid, NVML_TEXT), "memory_bytes",
		                  number_or_null(device->total, NVML_BYTES_UNKNOWN),
		                  "memory_used_bytes",
		                  number_or_null(device->used, NVML_BYTES_UNKNOWN), "busy_percent",
		                  number_or_null(device->busy_percent, NVML_PERCENT_UNKNOWN),
		                  "memory_busy_percent",
		                  number_or_null(device->memory_percent, NVML_PERCENT_UNKNOWN)));
	}
	return list;
}

static json_t *nvml_json(const struct gpu_view *view)
{
	const struct nvml_report *report = view->report;

	return json_pack("{s:b, s:o, s:I, s:I}", "on", report != NULL, "why",
	                 json_text(view->nvml_why, strlen(view->nvml_why)), "devices_left_out",
	                 (json_int_t)(report ? report->devices_left_out : 0), "processes_left_out",
	                 (json_int_t)(report ? report->processes_left_out : 0));
}

json_t *gpu_view_json(const struct gpu_view *view)
{
	json_t *object = json_object(), *processes = json_array();

	for (size_t i = 0; i < view->count; i++)
		json_array_append_new(processes, figures_json(&view->figures[i]));
	json_object_set_new(object, "on", json_boolean(!view->why[0]));
	json_object_set_new(object, "why", json_text(view->why, strlen(view->why)));
	json_object_set_new(object, "processes", processes);
	json_object_set_new(object, "nvml", nvml_json(view));
	json_object_set_new(object, "devices", devices_json(view->report));
	json_object_set_new(object, "driver", driver_json(view));
	json_object_set_new(object, "unexplained_means", json_string(gpu_view_unexplained));
	return object;
}
