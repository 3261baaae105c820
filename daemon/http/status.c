/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /status: what profd does, how full it is and what it could not do, as JSON.
 */
#include "base/clock.h"
#include "http/json.h"
#include "http/route.h"

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *sources_json(const struct collector *collector)
{
	json_t *list = json_array();
	struct source_status status;

	for (size_t i = 0; collector_source(collector, i, &status); i++)
		json_array_append_new(list, json_pack("{s:s, s:b, s:s}", "name", status.name, "on",
		                                      status.on, "why", status.why));
	return list;
}

static json_t *maps_json(const struct collector_stats *stats)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "tallies_used",
	                 (json_int_t)stats->tallies_used, "tallies_size",
	                 (json_int_t)stats->tallies_size, "stacks_used",
	                 (json_int_t)stats->stacks_used, "stacks_size",
	                 (json_int_t)stats->stacks_size, "bytes", (json_int_t)stats->map_bytes);
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

static json_t *recorder_json(const struct service *service)
{
	struct recorder_stats stats;
	uint64_t kept_ns = 0;

	recorder_get_stats(service->recorder, &stats);
	if (stats.oldest_mono_ns)
		kept_ns = clock_mono_ns() - stats.oldest_mono_ns;
	return json_pack("{s:I, s:I, s:I, s:f, s:I, s:I, s:I, s:I}", "bytes",
	                 (json_int_t)stats.bytes, "bytes_max",
	                 (json_int_t)service->max_history_bytes, "slices", (json_int_t)stats.slices,
	                 "kept_seconds", (double)kept_ns / NSEC_PER_SEC, "keep_seconds",
	                 (json_int_t)(service->keep_ns / NSEC_PER_SEC), "windows_evicted",
	                 (json_int_t)stats.windows_evicted, "samples_evicted",
	                 (json_int_t)stats.samples_evicted, "slices_failed",
	                 (json_int_t)stats.slices_failed);
}

static json_t *procs_json(const struct procs *procs)
{
	struct proc_stats stats;

	procs_get_stats(procs, &stats);
	return json_pack("{s:I, s:I, s:I, s:I}", "processes", (json_int_t)stats.processes, "images",
	                 (json_int_t)stats.images, "mappings", (json_int_t)stats.mappings,
	                 "dropped", (json_int_t)stats.dropped);
}

static json_t *store_json(struct store *store)
{
	struct store_stats stats;

	store_get_stats(store, &stats);
	return json_pack("{s:I, s:I, s:I, s:I}", "objects", (json_int_t)stats.objects, "opened",
	                 (json_int_t)stats.opened, "open_failed", (json_int_t)stats.open_failed,
	                 "evicted", (json_int_t)stats.evicted);
}

void handle_status(struct request *request)
{
	const struct service *service = request->service;
	uint64_t uptime_ns = clock_mono_ns() - service->start_mono_ns;
	struct collector_stats stats;

	collector_get_stats(service->collector, &stats);
	json_answer(
		request,
		json_pack("{s:s, s:I, s:f, s:I, s:s, s:I, s:f, s:b, s:o, s:o, s:o, s:o, s:o, s:o, "
	                  "s:o, s:o, s:o, s:o, s:I, s:I}",
	                  "version", PROFD_VERSION, "pid", (json_int_t)getpid(), "uptime_seconds",
	                  (double)uptime_ns / NSEC_PER_SEC, "sample_hz",
	                  (json_int_t)service->sample_hz, "event", stats.event, "cpus",
	                  (json_int_t)stats.cpus_sampled, "last_drain_seconds",
	                  (double)stats.last_drain_ns / NSEC_PER_SEC, "ready",
	                  collector_ready(service->collector), "sources",
	                  sources_json(service->collector), "maps", maps_json(&stats), "counters",
	                  counters_json(&stats), "unwind", unwinder_json(&stats.unwinder), "python",
	                  python_json(&stats), "recorder", recorder_json(service), "processes",
	                  procs_json(service->procs), "objects", store_json(service->store),
	                  "names", names_json(service->symbolizer), "debuginfod",
	                  fetch_json(service->fetch), "parked_requests",
	                  (json_int_t)request->parking->count, "lane_length",
	                  (json_int_t)lane_length(service->render)));
}
