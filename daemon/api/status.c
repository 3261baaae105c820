/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /status: what profd does, how full its tables are and what it could not do, as JSON.
 */
#include "api/figures.h"
#include "base/clock.h"
#include "collect/own_cost.h"
#include "http/json.h"
#include "http/kept_body.h"
#include "http/route.h"

#include <string.h>

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *sources_json(const struct collector *collector)
{
	json_t *list = json_array();
	struct source_status status;

	for (size_t i = 0; collector_source(collector, i, &status); i++)
		json_array_append_new(list, json_pack("{s:s, s:b, s:o}", "name", status.name, "on",
		                                      status.on, "why",
		                                      json_text(status.why, strlen(status.why))));
	return list;
}

static json_t *cost_json(const struct own_cost *cost)
{
	json_t *object = json_object(), *seconds = json_object(), *percent = json_object(),
	       *memory = json_object(), *group = json_null();

	for (int part = 0; part < OWN_CPU_COUNT; part++) {
		json_object_set_new(seconds, own_cpu_names[part],
		                    json_real((double)cost->cpu_ns[part] / NSEC_PER_SEC));
		json_object_set_new(percent, own_cpu_names[part],
		                    json_real(100 * cost->cpu_share[part]));
	}
	for (int part = 0; part < OWN_MEMORY_COUNT; part++)
		json_object_set_new(memory, own_memory_names[part],
		                    number(cost->memory_bytes[part]));
	if (cost->has_group) {
		group = json_object();
		json_object_set_new(group, "bytes", number(cost->group.bytes));
		json_object_set_new(group, "kernel_bytes",
		                    cost->group.kernel_bytes == OWN_GROUP_UNKNOWN
		                            ? json_null()
		                            : number(cost->group.kernel_bytes));
	}
	json_object_set_new(object, "cpu_seconds", seconds);
	json_object_set_new(object, "cpu_percent", percent);
	json_object_set_new(object, "memory_bytes", memory);
	json_object_set_new(object, "control_group", group);
	return object;
}

/* Adds the figure to the object of its part. */
static void set_figure(const struct figure *figure, void *ctx)
{
	json_t *object = ctx, *part = json_object_get(object, figure->part);

	if (!part) {
		part = json_object();
		json_object_set_new(object, figure->part, part);
	}
	json_object_set_new(part, figure->name,
	                    figure->type == FIGURE_seconds
	                            ? json_real((double)figure->value / NSEC_PER_SEC)
	                            : number(figure->value));
}

static json_t *recorder_json(const struct service *service, size_t kind)
{
	struct recorder_stats stats;
	uint64_t kept_ns = 0;

	recorder_get_stats(history_recorder(service->history, kind), &stats);
	if (stats.oldest_mono_ns)
		kept_ns = clock_mono_ns() - stats.oldest_mono_ns;
	return json_pack(
		"{s:I, s:I, s:I, s:f, s:I, s:I, s:I, s:I, s:I}", "bytes", (json_int_t)stats.bytes,
		"bytes_max", (json_int_t)history_max_bytes(service->history, kind), "slices",
		(json_int_t)stats.slices, "kept_seconds", (double)kept_ns / NSEC_PER_SEC,
		"keep_seconds", (json_int_t)(service->keep_ns / NSEC_PER_SEC), "windows_evicted",
		(json_int_t)stats.windows_evicted, "samples_evicted",
		(json_int_t)stats.samples_evicted, "stacks_evicted",
		(json_int_t)stats.stacks_evicted, "slices_failed", (json_int_t)stats.slices_failed);
}

/* The history of each kind of profile. */
static json_t *history_json(const struct service *service)
{
	json_t *object = json_object();
	struct source_status status;

	for (size_t kind = 0; collector_source(service->collector, kind, &status); kind++)
		json_object_set_new(object, status.name, recorder_json(service, kind));
	return object;
}

static json_t *capabilities_json(const struct service *service)
{
	json_t *list = json_array();

	for (const char *const *name = service->capabilities; *name; name++)
		json_array_append_new(list, json_string(*name));
	return list;
}

static void add_parts(json_t *object, const struct request *request)
{
	const struct service *service = request->service;
	struct own_cost cost;

	collector_own_cost(service->collector, &cost);
	json_object_set_new(object, "capabilities", capabilities_json(service));
	json_object_set_new(object, "sources", sources_json(service->collector));
	json_object_set_new(object, "cost", cost_json(&cost));
	figures_each(request, set_figure, object);
	json_object_set_new(json_object_get(object, "maps"), "bytes",
	                    number(cost.memory_bytes[OWN_MEMORY_maps]));
	json_object_set_new(json_object_get(object, "memory"), "oom_why_off",
	                    json_string(memory_watch_why(collector_memory(service->collector))));
	if (!service->fetch)
		json_object_set_new(object, "debuginfod", json_null());
	json_object_set_new(object, "recorder", history_json(service));
	json_object_set_new(object, "parked_requests", number(request->parking->count));
	json_object_set_new(object, "lane_length", number(lane_length(service->render)));
}

static const char content_type[] = "application/json";

void handle_status(struct request *request)
{
	const struct service *service = request->service;
	uint64_t uptime_ns = clock_mono_ns() - service->start_mono_ns;
	struct kept_body *kept = &request->parking->status;
	struct collector_stats stats;
	struct buf body = BUF_INIT;
	json_t *object;
	int err;

	if (kept_body_suffices(kept, request, content_type))
		return;
	collector_get_stats(service->collector, &stats);
	object = json_pack("{s:s, s:I, s:f, s:I, s:s, s:I, s:f, s:b}", "version", PROFD_VERSION,
	                   "pid", (json_int_t)getpid(), "uptime_seconds",
	                   (double)uptime_ns / NSEC_PER_SEC, "sample_hz",
	                   (json_int_t)service->sample_hz, "event", stats.event, "cpus",
	                   (json_int_t)stats.cpus_sampled, "last_drain_seconds",
	                   (double)stats.last_drain_ns / NSEC_PER_SEC, "ready",
	                   collector_ready(service->collector));
	if (object)
		add_parts(object, request);
	err = json_write(object, &body);
	if (!err) {
		kept_body_answer(kept, request, content_type, &body);
		return;
	}
	buf_release(&body);
	request_fail(request, err);
}
