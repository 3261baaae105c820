/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /metrics: Prometheus text format 0.0.4. Counters and their help come from the lists that declare
 * them. No metric has a label for each process or function, except the one of the few processes
 * that leak.
 */
#include "api/figures.h"
#include "api/metrics_lanes.h"
#include "base/clean.h"
#include "base/clock.h"
#include "collect/own_cost.h"
#include "http/kept_body.h"
#include "http/route.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static void add_head(struct buf *body, const char *name, const char *type, const char *help)
{
	buf_printf(body, "# HELP %s %s.\n# TYPE %s %s\n", name, help, name, type);
}

static void add_gauge(struct buf *body, const char *name, const char *help, double value)
{
	add_head(body, name, "gauge", help);
	buf_printf(body, "%s %.15g\n", name, value);
}

static void add_figure(const struct figure *figure, void *ctx)
{
	struct buf *body = ctx;
	bool gauge = figure->type == FIGURE_gauge;
	char name[128];

	snprintf(name, sizeof(name), "profd_%s%s", figure->metric, gauge ? "" : "_total");
	add_head(body, name, gauge ? "gauge" : "counter", figure->help);
	if (figure->type == FIGURE_seconds)
		buf_printf(body, "%s %.9g\n", name, (double)figure->value / NSEC_PER_SEC);
	else
		buf_printf(body, "%s %" PRIu64 "\n", name, figure->value);
}

/* A name may be any bytes. It is made harmless, and the two characters that Prometheus wants
 * escaped are escaped. */
static void add_label(struct buf *body, const char *value)
{
	_cleanup_free_ char *text = strdup(value);

	if (!text)
		return;
	clean_text(text);
	for (const char *at = text; *at; at++) {
		if (*at == '"' || *at == '\\')
			buf_add_char(body, '\\');
		buf_add_char(body, *at);
	}
}

/* The only metric with labels of processes: few leak at a time. */
enum { MAX_LEAKS_SHOWN = 100 };

struct leaks {
	struct buf *body;
	size_t count;
};

static void add_leak(const struct timeline_process *process, void *ctx)
{
	struct leaks *leaks = ctx;

	if (!process->track.growth.leaking || leaks->count++ >= MAX_LEAKS_SHOWN)
		return;
	buf_printf(leaks->body, "profd_process_leak_bytes_per_second{pid=\"%" PRIu32 "\",comm=\"",
	           process->pid);
	add_label(leaks->body, process->comm);
	buf_printf(leaks->body, "\",of=\"%s\"} %" PRIu64 "\n",
	           growth_of_names[process->track.growth.of],
	           process->track.growth.bytes_per_second);
}

static void add_leaks(struct buf *body, const struct memory_watch *watch)
{
	struct leaks leaks = {.body = body};

	add_head(body, "profd_process_leak_bytes_per_second", "gauge",
	         "Growth of memory of each process that leaks");
	timeline_each(memory_watch_timeline(watch), add_leak, &leaks);
}

static void add_collector(struct buf *body, const struct collector *collector)
{
	struct collector_stats stats;

	collector_get_stats(collector, &stats);
	add_gauge(body, "profd_last_drain_seconds", "Duration of the last drain of the tallies",
	          (double)stats.last_drain_ns / NSEC_PER_SEC);
	add_gauge(body, "profd_cpus_sampled", "CPUs with a sampling timer", stats.cpus_sampled);
	add_gauge(body, "profd_ready", "1 once samples are recorded", collector_ready(collector));
}

static void add_control_group(struct buf *body, const struct own_group_usage *usage)
{
	add_gauge(body, "profd_own_control_group_bytes",
	          "Memory charged to profd's own control group", (double)usage->bytes);
	if (usage->kernel_bytes != OWN_GROUP_UNKNOWN)
		add_gauge(body, "profd_own_control_group_kernel_bytes",
		          "Kernel memory charged to profd's own control group",
		          (double)usage->kernel_bytes);
}

static void add_own_cost(struct buf *body, struct collector *collector)
{
	struct own_cost cost;

	collector_own_cost(collector, &cost);
	add_head(body, "profd_own_cpu_seconds_total", "counter",
	         "CPU time of profd: the daemon, its reader processes, and its BPF programs while "
	         "they take samples; without the interrupts and traps that run these programs, and "
	         "without runs that take no sample");
	for (int part = 0; part < OWN_CPU_COUNT; part++)
		buf_printf(body, "profd_own_cpu_seconds_total{part=\"%s\"} %.9f\n",
		           own_cpu_names[part], (double)cost.cpu_ns[part] / NSEC_PER_SEC);
	add_head(body, "profd_own_cpu_ratio", "gauge",
	         "CPU time of profd over the last minute, as a share of one CPU");
	for (int part = 0; part < OWN_CPU_COUNT; part++)
		buf_printf(body, "profd_own_cpu_ratio{part=\"%s\"} %.6g\n", own_cpu_names[part],
		           cost.cpu_share[part]);
	add_head(body, "profd_own_memory_bytes", "gauge",
	         "Memory of profd: anonymous and shared memory of the daemon and its reader "
	         "processes, BPF maps, and perf ring buffers");
	for (int part = 0; part < OWN_MEMORY_COUNT; part++)
		buf_printf(body, "profd_own_memory_bytes{part=\"%s\"} %" PRIu64 "\n",
		           own_memory_names[part], cost.memory_bytes[part]);
	add_gauge(body, "profd_map_bytes", "Kernel memory of all BPF maps",
	          (double)cost.memory_bytes[OWN_MEMORY_maps]);
	if (cost.has_group)
		add_control_group(body, &cost.group);
}

/* The metrics of each kind's history: RECORDER(name, type, help, value). */
#define RECORDERS(RECORDER)                                                                        \
	RECORDER(history_bytes, gauge, "Memory of the history", stats.bytes)                       \
	RECORDER(history_slices, gauge, "Slices in the history", stats.slices)                     \
	RECORDER(history_seconds, gauge, "Time that the history covers", kept)                     \
	RECORDER(windows_evicted_total, counter, "Windows dropped early for lack of memory",       \
	         stats.windows_evicted)                                                            \
	RECORDER(samples_evicted_total, counter,                                                   \
	         "Samples in windows dropped early for lack of memory", stats.samples_evicted)     \
	RECORDER(stacks_evicted_total, counter, "Samples whose stacks were folded into one frame", \
	         stats.stacks_evicted)                                                             \
	RECORDER(slices_failed_total, counter, "Slices lost for lack of memory",                   \
	         stats.slices_failed)

#define RECORDER(name, type, help, value) RECORDER_##name,
enum recorder_metric { RECORDERS(RECORDER) RECORDER_COUNT };
#undef RECORDER

static double recorder_value(const struct recorder *recorder, enum recorder_metric metric)
{
	struct recorder_stats stats;
	double kept = 0;

	recorder_get_stats(recorder, &stats);
	if (stats.oldest_mono_ns)
		kept = (double)(clock_mono_ns() - stats.oldest_mono_ns) / NSEC_PER_SEC;
	switch (metric) {
#define RECORDER(name, type, help, value) \
	case RECORDER_##name:             \
		return (double)(value);
		RECORDERS(RECORDER)
#undef RECORDER
	case RECORDER_COUNT:
		break;
	}
	return 0;
}

static void add_history(struct buf *body, const struct service *service)
{
#define RECORDER(name, type, help, value) {"profd_" #name, #type, help},
	static const struct {
		const char *name, *type, *help;
	} metrics[] = {RECORDERS(RECORDER)};
#undef RECORDER
	struct source_status source;

	for (int metric = 0; metric < RECORDER_COUNT; metric++) {
		add_head(body, metrics[metric].name, metrics[metric].type, metrics[metric].help);
		for (size_t kind = 0; collector_source(service->collector, kind, &source); kind++)
			buf_printf(body, "%s{type=\"%s\"} %.15g\n", metrics[metric].name,
			           source.name,
			           recorder_value(history_recorder(service->history, kind),
			                          (enum recorder_metric)metric));
	}
	add_head(body, "profd_source_on", "gauge", "1 while this kind of profile is recorded");
	for (size_t kind = 0; collector_source(service->collector, kind, &source); kind++)
		buf_printf(body, "profd_source_on{type=\"%s\"} %d\n", source.name, source.on);
}

static void add_requests(struct buf *body, const struct request *request)
{
	const struct service *service = request->service;

	add_gauge(body, "profd_parked_requests", "Requests suspended until their answer is ready",
	          (double)request->parking->count);
	add_gauge(body, "profd_render_jobs", "Answers queued for rendering or being rendered",
	          (double)lane_length(service->render));
	add_gauge(body, "profd_sample_hz", "Sampling rate: ticks a second on each CPU",
	          service->sample_hz);
}

static double open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	double count = 0;

	if (!dir)
		return 0;
	while (readdir(dir))
		count++;
	closedir(dir);
	return count - 3; /* ".", ".." and the descriptor that lists them */
}

static double resident_bytes(void)
{
	_cleanup_(buf_release) struct buf statm = BUF_INIT;
	unsigned long size, resident = 0;

	if (buf_read_file(&statm, "/proc/self/statm", MAX_PROC_FILE_BYTES) < 0 ||
	    sscanf(buf_text(&statm), "%lu %lu", &size, &resident) != 2)
		return 0;
	return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static double seconds_of(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

/* Metrics that every Prometheus client library exports under these names. */
static void add_process(struct buf *body, uint64_t start_mono_ns)
{
	uint64_t start_wall_ns = clock_wall_ns() - (clock_mono_ns() - start_mono_ns);
	struct rusage usage = {0};

	getrusage(RUSAGE_SELF, &usage);
	add_head(body, "process_cpu_seconds_total", "counter", "User and system CPU time spent");
	buf_printf(body, "process_cpu_seconds_total %.6f\n",
	           seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime));
	add_gauge(body, "process_resident_memory_bytes", "Resident memory", resident_bytes());
	add_gauge(body, "process_open_fds", "Open file descriptors", open_descriptors());
	add_head(body, "process_start_time_seconds", "gauge", "Start time in Unix seconds");
	buf_printf(body, "process_start_time_seconds %.3f\n", (double)start_wall_ns / 1e9);
}

static const char content_type[] = "text/plain; version=0.0.4; charset=utf-8";

void handle_metrics(struct request *request)
{
	const struct service *service = request->service;
	struct kept_body *kept = &request->parking->metrics;
	struct buf body = BUF_INIT;

	if (kept_body_suffices(kept, request, content_type))
		return;
	add_head(&body, "profd_build_info", "gauge", "Always 1; the label is the version");
	buf_printf(&body, "profd_build_info{version=\"%s\"} 1\n", PROFD_VERSION);
	add_own_cost(&body, service->collector);
	add_collector(&body, service->collector);
	figures_each(request, add_figure, &body);
	add_history(&body, service);
	add_requests(&body, request);
	metrics_add_lanes(&body);
	add_leaks(&body, collector_memory(service->collector));
	add_process(&body, service->start_mono_ns);
	kept_body_answer(kept, request, content_type, &body);
}
