/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /status: what profd does, how full it is and what it could not do, as JSON.
 */
#include "base/clock.h"
#include "collect/gpu.h"
#include "collect/heaps.h"
#include "collect/own_cost.h"
#include "http/json.h"
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

static json_t *maps_json(const struct collector_stats *stats, const struct own_cost *cost)
{
	return json_pack(
		"{s:I, s:I, s:I, s:I, s:I}", "tallies_used", (json_int_t)stats->tallies_used,
		"tallies_size", (json_int_t)stats->tallies_size, "stacks_used",
		(json_int_t)stats->stacks_used, "stacks_size", (json_int_t)stats->stacks_size,
		"bytes", (json_int_t)cost->memory_bytes[OWN_MEMORY_maps]);
}

static json_t *counters_json(const struct collector_stats *stats)
{
	json_t *object = json_object();

	for (size_t i = 0; i < COUNTER_COUNT; i++)
		json_object_set_new(object, counter_names[i], number(stats->counters[i]));
#define COUNTER(name, help) json_object_set_new(object, #name, number(stats->name));
	COLLECTOR_COUNTERS(COUNTER)
#undef COUNTER
	return object;
}

static json_t *heaps_json(const struct heaps *heaps)
{
	json_t *object = json_object();
	struct heaps_stats stats;

	heaps_get_stats(heaps, &stats);
	json_object_set_new(object, "watched", number(stats.watching));
	json_object_set_new(object, "standing", number(stats.standing));
	json_object_set_new(object, "standing_bytes", number(stats.standing_bytes));
#define COUNTER(name, help) json_object_set_new(object, #name, number(stats.name));
	HEAP_COUNTERS(COUNTER)
#undef COUNTER
	return object;
}

static json_t *gpu_json(const struct gpu *gpu)
{
	json_t *object = json_object();
	struct gpu_stats stats;

	gpu_get_stats(gpu, &stats);
#define COUNT(name, help) json_object_set_new(object, #name, number(stats.name));
	GPU_COUNTS(COUNT)
#undef COUNT
#define COUNT(name, help) json_object_set_new(object, "told_" #name, number(stats.kernels.name));
	GPU_KERNEL_COUNTS(COUNT)
#undef COUNT
#define FIGURE(name, type, help) json_object_set_new(object, #name, number(stats.name));
	GPU_FIGURES(FIGURE)
#undef FIGURE
	return object;
}

/* How the numbers of the lists of statistics are shown. */
#define STAT_gauge(value)      number(value)
#define STAT_counter(value)    number(value)
#define STAT_seconds(value)    json_real((double)(value) / NSEC_PER_SEC)
#define STAT(name, type, help) json_object_set_new(object, #name, STAT_##type(stats->name));

static json_t *unwinder_json(const struct unwinder_stats *stats)
{
	json_t *object = json_object();

	UNWINDER_STATS(STAT)
	return object;
}

static json_t *clients_json(const struct parking *parking)
{
	json_t *object = json_object();
	struct client_stats clients, *stats = &clients;

	parking_get_stats(parking, stats);
	CLIENT_STATS(STAT)
	return object;
}

static json_t *crew_json(const struct crew_stats *stats)
{
	json_t *object = json_object();

	CREW_STATS(STAT)
	return object;
}

static json_t *readers_json(const struct reader_stats *stats)
{
	json_t *object = json_object();

	READER_STATS(STAT)
	return object;
}

static json_t *python_json(const struct collector_stats *all)
{
	json_t *object = json_object();

	{
		const struct pythons_stats *stats = &all->pythons;

		PYTHONS_STATS(STAT)
	}
	{
		const struct python_codes_stats *stats = &all->python_codes;

		PYTHON_CODES_STATS(STAT)
	}
	{
		const struct python_threads_stats *stats = &all->python_threads;

		PYTHON_THREADS_STATS(STAT)
	}
	return object;
}

static json_t *names_json(const struct symbolizer *symbolizer)
{
	json_t *object = json_object();
	struct symbolizer_stats symbolizer_stats;
	const struct names_stats *stats = &symbolizer_stats.names;

	symbolizer_get_stats(symbolizer, &symbolizer_stats);
	json_object_set_new(object, "known_files", number(symbolizer_stats.known_files));
	json_object_set_new(object, "known_bytes", number(symbolizer_stats.known_bytes));
	NAMES_STATS(STAT)
	return object;
}

/* null without servers. */
static json_t *fetch_json(struct fetch *fetch)
{
	json_t *object = fetch ? json_object() : json_null();
	struct fetch_stats fetched, *stats = &fetched;

	if (!fetch)
		return object;
	fetch_get_stats(fetch, stats);
	FETCH_STATS(STAT)
	return object;
}

#undef STAT
#undef STAT_seconds
#undef STAT_counter
#undef STAT_gauge

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

/* The past of each kind. */
static json_t *history_json(const struct service *service)
{
	json_t *object = json_object();
	struct source_status status;

	for (size_t kind = 0; collector_source(service->collector, kind, &status); kind++)
		json_object_set_new(object, status.name, recorder_json(service, kind));
	return object;
}

static json_t *memory_json(const struct memory_watch *watch)
{
	json_t *object = json_object();
	struct timeline_stats timelines;
	struct memory_watch_stats watched;
	struct keepsakes_stats kept;

	timeline_get_stats(memory_watch_timeline(watch), &timelines);
	memory_watch_get_stats(watch, &watched);
	keepsakes_get_stats(memory_watch_keepsakes(watch), &kept);
#define STAT_gauge(value)      number(value)
#define STAT_counter(value)    number(value)
#define STAT_seconds(value)    json_real((double)(value) / NSEC_PER_SEC)
#define STAT(name, type, help) json_object_set_new(object, #name, STAT_##type(timelines.name));
	TIMELINE_STATS(STAT)
#undef STAT
#define STAT(name, type, help) json_object_set_new(object, #name, STAT_##type(watched.name));
	MEMORY_WATCH_STATS(STAT)
#undef STAT
#define STAT(name, type, help) json_object_set_new(object, "oom_" #name, STAT_##type(kept.name));
	KEEPSAKES_STATS(STAT)
#undef STAT
#undef STAT_seconds
#undef STAT_counter
#undef STAT_gauge
	json_object_set_new(object, "leaking", number(timelines.leaking));
	json_object_set_new(object, "oom_why_off", json_string(memory_watch_why(watch)));
	return object;
}

static json_t *procs_json(const struct procs *procs)
{
	struct proc_stats stats;

	procs_get_stats(procs, &stats);
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "processes",
	                 (json_int_t)stats.processes, "images", (json_int_t)stats.images,
	                 "mappings", (json_int_t)stats.mappings, "dropped",
	                 (json_int_t)stats.dropped, "mapping_bytes",
	                 (json_int_t)stats.mapping_bytes, "mappings_refused",
	                 (json_int_t)stats.mappings_refused, "kin", (json_int_t)stats.kin,
	                 "kin_dropped", (json_int_t)stats.kin_dropped);
}

static json_t *store_json(struct store *store)
{
	struct store_stats stats;

	store_get_stats(store, &stats);
	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "objects", (json_int_t)stats.objects,
	                 "opened", (json_int_t)stats.opened, "open_failed",
	                 (json_int_t)stats.open_failed, "evicted", (json_int_t)stats.evicted,
	                 "unmapped", (json_int_t)stats.unmapped);
}

static json_t *capabilities_json(const struct service *service)
{
	json_t *list = json_array();

	for (const char *const *name = service->capabilities; *name; name++)
		json_array_append_new(list, json_string(*name));
	return list;
}

/* One call each: a list this long beside its format in one string goes out of step unseen. */
static void add_parts(json_t *object, const struct service *service,
                      const struct collector_stats *stats)
{
	struct own_cost cost;

	collector_own_cost(service->collector, &cost);
	json_object_set_new(object, "capabilities", capabilities_json(service));
	json_object_set_new(object, "sources", sources_json(service->collector));
	json_object_set_new(object, "cost", cost_json(&cost));
	json_object_set_new(object, "maps", maps_json(stats, &cost));
	json_object_set_new(object, "counters", counters_json(stats));
	json_object_set_new(object, "unwind", unwinder_json(&stats->unwinder));
	json_object_set_new(object, "opener", crew_json(&stats->opener));
	json_object_set_new(object, "maps_reader", crew_json(&stats->maps_reader));
	json_object_set_new(object, "readers", readers_json(&stats->readers));
	json_object_set_new(object, "python", python_json(stats));
	json_object_set_new(object, "heaps", heaps_json(service->heaps));
	json_object_set_new(object, "gpu", gpu_json(collector_gpu(service->collector)));
	json_object_set_new(object, "recorder", history_json(service));
	json_object_set_new(object, "processes", procs_json(service->procs));
	json_object_set_new(object, "objects", store_json(service->store));
	json_object_set_new(object, "names", names_json(service->symbolizer));
	json_object_set_new(object, "debuginfod", fetch_json(service->fetch));
	json_object_set_new(object, "memory", memory_json(collector_memory(service->collector)));
}

void handle_status(struct request *request)
{
	const struct service *service = request->service;
	uint64_t uptime_ns = clock_mono_ns() - service->start_mono_ns;
	struct collector_stats stats;
	json_t *object;

	collector_get_stats(service->collector, &stats);
	nvml_add_reader_stats(service->nvml, &stats.readers);
	object = json_pack("{s:s, s:I, s:f, s:I, s:s, s:I, s:f, s:b}", "version", PROFD_VERSION,
	                   "pid", (json_int_t)getpid(), "uptime_seconds",
	                   (double)uptime_ns / NSEC_PER_SEC, "sample_hz",
	                   (json_int_t)service->sample_hz, "event", stats.event, "cpus",
	                   (json_int_t)stats.cpus_sampled, "last_drain_seconds",
	                   (double)stats.last_drain_ns / NSEC_PER_SEC, "ready",
	                   collector_ready(service->collector));
	if (object) {
		add_parts(object, service, &stats);
		json_object_set_new(object, "http", clients_json(request->parking));
		json_object_set_new(object, "parked_requests", number(request->parking->count));
		json_object_set_new(object, "lane_length", number(lane_length(service->render)));
	}
	json_answer(request, object);
}
