/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Each list is traversed in one place. Figures that are in no list are named here.
 */
#include "api/figures.h"

#include "export/exports.h"
#include "gpu/gpu.h"
#include "heap/heaps.h"
#include "http/service.h"
#include "jit/jit.h"
#include "runtimes/runtimes.h"

#include <stdio.h>

/* The receiver of the figures, and the part and the name prefixes of the figures that come next. */
struct telling {
	figure_fn *fn;
	void *ctx;
	const char *part;
	const char *before_name, *before_metric;
};

static void tell(const struct telling *to, const char *name, enum figure_type type,
                 const char *help, uint64_t value)
{
	char full[96], metric[96];

	snprintf(full, sizeof(full), "%s%s", to->before_name, name);
	snprintf(metric, sizeof(metric), "%s%s", to->before_metric, name);
	to->fn(&(struct figure){to->part, full, metric, type, help, value}, to->ctx);
}

/* A figure whose names in /status and /metrics differ by more than the prefixes. */
static void tell_as(const struct telling *to, const char *name, const char *metric,
                    enum figure_type type, const char *help, uint64_t value)
{
	to->fn(&(struct figure){to->part, name, metric, type, help, value}, to->ctx);
}

static void enter(struct telling *to, const char *part, const char *before_metric)
{
	to->part = part;
	to->before_name = "";
	to->before_metric = before_metric;
}

/* For the lists of statistics, and those of counters. */
#define STAT(name, type, help) tell(to, #name, FIGURE_##type, help, (uint64_t)stats->name);
#define COUNT(name, help)      STAT(name, counter, help)

static void tell_counters(struct telling *to, const struct collector_stats *stats)
{
	enter(to, "counters", "");
	for (size_t i = 0; i < COUNTER_COUNT; i++)
		tell(to, counter_names[i], FIGURE_counter, counter_help[i], stats->counters[i]);
	COLLECTOR_COUNTERS(COUNT)
}

static void tell_maps(struct telling *to, const struct collector_stats *stats)
{
	enter(to, "maps", "");
	STAT(tallies_used, gauge, "Entries of the tally map used at the last drain")
	STAT(tallies_size, gauge, "Entries that the tally map has room for")
	STAT(stacks_used, gauge, "Entries of the stack map used at the last drain")
	STAT(stacks_size, gauge, "Entries that the stack map has room for")
}

static void tell_unwinder(struct telling *to, const struct unwinder_stats *stats)
{
	enter(to, "unwind", "unwind_");
	UNWINDER_STATS(STAT)
}

static void tell_crew(struct telling *to, const struct crew_stats *stats)
{
	CREW_STATS(STAT)
}

static void tell_readers(struct telling *to, const struct reader_stats *stats)
{
	enter(to, "readers", "readers_");
	READER_STATS(STAT)
}

static void tell_jit(struct telling *to, const struct jit *jit)
{
	struct jit_stats of_all, *stats = &of_all;

	jit_get_stats(jit, stats);
	enter(to, "jit", "jit_");
	JIT_STATS(STAT)
}

static void tell_collector(struct telling *to, const struct service *service)
{
	struct collector_stats stats;

	collector_get_stats(service->collector, &stats);
	nvml_add_reader_stats(service->nvml, &stats.readers);
	tell_maps(to, &stats);
	tell_counters(to, &stats);
	tell_unwinder(to, &stats.unwinder);
	enter(to, "opener", "opener_");
	tell_crew(to, &stats.opener);
	enter(to, "maps_reader", "maps_reader_");
	tell_crew(to, &stats.maps_reader);
	tell_readers(to, &stats.readers);
	tell_jit(to, collector_jit(service->collector));
	runtimes_figures(collector_runtimes(service->collector), to->fn, to->ctx);
}

static void tell_heaps(struct telling *to, const struct heaps *heaps)
{
	struct heaps_stats of_all, *stats = &of_all;

	heaps_get_stats(heaps, stats);
	enter(to, "heaps", "heaps_");
	tell(to, "watched", FIGURE_gauge, "Processes whose allocators have probes now",
	     stats->watching);
	STAT(standing, gauge, "Processes that sample their own allocations")
	STAT(standing_bytes, gauge, "Memory of standing heaps")
	to->before_metric = "";
	HEAP_COUNTERS(COUNT)
}

static void tell_gpu_kernels(struct telling *to, const struct gpu_kernels_stats *stats)
{
	to->before_name = "told_";
	to->before_metric = "gpu_told_";
	GPU_KERNEL_COUNTS(COUNT)
}

static void tell_gpu(struct telling *to, const struct gpu *gpu)
{
	struct gpu_stats of_all, *stats = &of_all;

	gpu_get_stats(gpu, stats);
	enter(to, "gpu", "gpu_");
	GPU_COUNTS(COUNT)
	GPU_FIGURES(STAT)
	tell_gpu_kernels(to, &stats->kernels);
}

static void tell_processes(struct telling *to, const struct procs *procs)
{
	struct proc_stats of_all, *stats = &of_all;

	procs_get_stats(procs, stats);
	enter(to, "processes", "");
	STAT(processes, gauge, "Known processes, including those that ended recently")
	STAT(images, gauge, "Programs that known processes run or have run")
	STAT(mappings, gauge, "Known executable mappings")
	STAT(mapping_bytes, gauge, "Memory of mappings and their paths")
	STAT(mappings_refused, counter,
	     "Times that a user's share of memory for mappings was used up")
	to->before_metric = "processes_";
	STAT(put_off, counter,
	     "Readings of mappings that failed or would have taken too long, left for later")
	STAT(dropped, counter, "Processes and mappings dropped because a bound was reached")
	STAT(kin, gauge, "Ended processes whose descendants are known")
	STAT(kin_dropped, counter,
	     "Ended processes whose descendants were forgotten for lack of room")
}

static void tell_objects(struct telling *to, struct store *store)
{
	struct store_stats of_all, *stats = &of_all;

	store_get_stats(store, stats);
	enter(to, "objects", "objects_");
	tell_as(to, "objects", "objects", FIGURE_gauge, "Executable files held open",
	        stats->objects);
	STAT(opened, counter, "Executable files opened")
	STAT(open_failed, counter, "Executable files that could not be opened")
	STAT(evicted, counter, "Executable files closed for lack of room")
	STAT(unmapped, counter, "Executable files closed because no process maps them")
	STAT(samples_refused, counter,
	     "Samples in executable files not open yet that get no names for lack of room")
}

static void tell_names(struct telling *to, const struct symbolizer *symbolizer)
{
	struct symbolizer_stats of_all;
	const struct names_stats *stats = &of_all.names;

	symbolizer_get_stats(symbolizer, &of_all);
	enter(to, "names", "names_");
	tell_as(to, "known_files", "names_files", FIGURE_gauge,
	        "Files whose names are kept in memory", of_all.known_files);
	tell_as(to, "known_bytes", "names_bytes", FIGURE_gauge, "Memory of the names that are kept",
	        of_all.known_bytes);
	NAMES_STATS(STAT)
}

static void tell_fetch(struct telling *to, struct fetch *fetch)
{
	struct fetch_stats of_all, *stats = &of_all;

	if (!fetch)
		return;
	fetch_get_stats(fetch, stats);
	enter(to, "debuginfod", "debuginfod_");
	FETCH_STATS(STAT)
}

static void tell_timeline(struct telling *to, const struct timeline *timeline)
{
	struct timeline_stats of_all, *stats = &of_all;

	timeline_get_stats(timeline, stats);
	enter(to, "memory", "memory_timeline_");
	TIMELINE_STATS(STAT)
	tell_as(to, "leaking", "processes_leaking", FIGURE_gauge,
	        "Processes whose memory grows steadily", stats->leaking);
}

static void tell_keepsakes(struct telling *to, const struct keepsakes *keepsakes)
{
	struct keepsakes_stats of_all, *stats = &of_all;

	keepsakes_get_stats(keepsakes, stats);
	to->before_name = to->before_metric = "oom_";
	KEEPSAKES_STATS(STAT)
}

static void tell_memory(struct telling *to, const struct memory_watch *watch)
{
	struct memory_watch_stats of_all, *stats = &of_all;

	tell_timeline(to, memory_watch_timeline(watch));
	memory_watch_get_stats(watch, stats);
	to->before_metric = "memory_";
	MEMORY_WATCH_STATS(STAT)
	tell_keepsakes(to, memory_watch_keepsakes(watch));
}

static void tell_exports(struct telling *to, const struct exports *exports)
{
	struct exports_stats of_all, *stats = &of_all;

	if (!exports)
		return;
	exports_get_stats(exports, stats);
	enter(to, "export", "export_");
	EXPORTS_STATS(STAT)
}

static void tell_clients(struct telling *to, const struct parking *parking)
{
	struct client_stats of_all, *stats = &of_all;

	parking_get_stats(parking, stats);
	enter(to, "http", "http_");
	CLIENT_STATS(STAT)
}

static void tell_access(struct telling *to, const struct access_stats *stats)
{
	enter(to, "access", "access_");
	ACCESS_COUNTERS(COUNT)
}

void figures_each(const struct request *request, figure_fn *fn, void *ctx)
{
	const struct service *service = request->service;
	struct telling to = {.fn = fn, .ctx = ctx};

	tell_collector(&to, service);
	tell_heaps(&to, service->heaps);
	tell_gpu(&to, collector_gpu(service->collector));
	tell_processes(&to, service->procs);
	tell_objects(&to, service->store);
	tell_names(&to, service->symbolizer);
	tell_fetch(&to, service->fetch);
	tell_memory(&to, collector_memory(service->collector));
	tell_exports(&to, service->exports);
	tell_clients(&to, request->parking);
	tell_access(&to, &service->access->stats);
}
