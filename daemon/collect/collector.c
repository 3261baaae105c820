/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Starts and stops everything that a collector consists of.
 */
#include "collect/collector.h"

#include "base/log.h"
#include "collect/collector_private.h"
#include "collect/load.h"
#include "kernel/bpf_parts.h"
#include "kernel/perf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int attach(struct collector *collector)
{
	_cleanup_free_ bool *online = calloc(MAX_CPUS, sizeof(*online));
	int err = online ? cpulist_online(online, MAX_CPUS) : -ENOMEM;

	if (!err)
		err = sideband_update_cpus(collector->sideband, online);
	for (int kind = 0; !err && kind < KIND_COUNT; kind++) {
		int failed =
			sources[kind]->attach(&collector->bpf, online, &collector->states[kind]);

		/* Sources that are not required give the reason in /status. */
		if (sources[kind]->is_required)
			err = failed;
	}
	return err;
}

static void on_cpus_changed(void *ctx)
{
	int err = attach(ctx);

	if (err)
		log_warning("cannot sample all CPUs after a CPU hotplug: %s", strerror(-err));
}

/* The process table has new data, which the walker needs too. */
static bool on_told(uint64_t told_mono_ns, void *ctx)
{
	struct collector *collector = ctx;

	collector->told_mono_ns = told_mono_ns;
	/* The order matters: see bpf/python/unwind_python.bpf.c. */
	runtimes_sync(&collector->runtimes);
	return unwinder_sync(collector->unwinder, told_mono_ns);
}

/* Files that processes mapped are open now, or mappings were read. */
static void on_more_known(void *ctx)
{
	struct collector *collector = ctx;

	if (collector->unwinder)
		on_told(collector->told_mono_ns, collector);
}

static int open_runtimes(struct collector *collector, char why[256])
{
	const struct runtime_config config = {
		.loop = collector->loop,
		.bpf = &collector->bpf,
		.procs = collector->procs,
		.store = collector->store,
		.crew = opener_crew(collector->crews.opener),
		.execs = collector->unwind_maps.memory.execs,
	};
	const char *name = "";
	int err = runtimes_open(&collector->runtimes, &config, &name);

	if (err)
		snprintf(why, 256, "cannot open the BPF maps for %s: %s", name, strerror(-err));
	return err;
}

static int start_walkers(struct collector *collector, char why[256])
{
	int err = unwind_maps_open(&collector->unwind_maps, &collector->bpf);

	if (err) {
		snprintf(why, 256, "cannot map the unwind tables: %s", strerror(-err));
		return err;
	}
	collector->unwinder = unwinder_new(collector->loop, collector->procs, collector->store,
	                                   &collector->unwind_maps.memory);
	if (!collector->unwinder)
		return -ENOMEM;
	return open_runtimes(collector, why);
}

static void on_gpus_heard(void *ctx)
{
	struct collector *collector = ctx;

	collector->states[KIND_gpu_kernel].on = true;
}

static int start_heaps(struct collector *collector, char why[256])
{
	const struct heaps_config config = {
		.loop = collector->loop,
		.bpf = &collector->bpf,
		.tables = collector_tables(collector),
		.read_tables = collector_read_tables,
		.hears_gpus = on_gpus_heard,
		.ctx = collector,
	};
	int err = heaps_new(&config, &collector->heaps);

	if (err)
		snprintf(why, 256, "cannot open the BPF maps for heap profiles: %s",
		         strerror(-err));
	return err;
}

static void on_gpu_out_of_memory(const struct keepsake *what, void *ctx)
{
	struct collector *collector = ctx;

	memory_watch_keep(collector->memory, what);
}

static int open_gpu(struct collector *collector, bool off, char why[256])
{
	const struct gpu_config config = {
		.loop = collector->loop,
		.bpf = &collector->bpf,
		.tables = collector_tables(collector),
		.read_tables = collector_read_tables,
		.states = collector->states,
		.off = off,
		.out_of_memory = on_gpu_out_of_memory,
		.ctx = collector,
	};
	int err = gpu_new(&config, &collector->gpu);

	if (err)
		snprintf(why, 256, "cannot open the BPF maps for GPUs: %s", strerror(-err));
	return err;
}

static int open_memory_watch(struct collector *collector, const struct collector_config *config)
{
	const struct memory_watch_config memory = {
		.loop = config->loop,
		.procs = config->procs,
		.heaps = collector->heaps,
		.heartbeat = &collector->heartbeat,
		.growth = history_recorder(config->history, KIND_rss),
		.source = &collector->states[KIND_rss],
		.keep_ns = config->keep_ns,
		.max_bytes = config->memory_bytes,
	};

	collector->memory = memory_watch_new(&memory);
	return collector->memory ? 0 : -ENOMEM;
}

int collector_new(const struct collector_config *config, struct collector **ret_collector,
                  char ret_why[256])
{
	const struct source_config source_config = {config->sample_hz, config->growth,
	                                            config->waits, config->faults};
	struct collector *collector = calloc(1, sizeof(*collector));
	int err;

	snprintf(ret_why, 256, "out of memory");
	if (!collector)
		return -ENOMEM;
	collector->loop = config->loop;
	collector->procs = config->procs;
	collector->store = config->store;
	collector->history = config->history;
	collector->drained = config->drained;
	collector->ctx = config->ctx;
	own_rate_tick(&collector->own_rate, 0);
	collector->run_times = run_times_new();
	collector->jit = jit_new();
	collector->late_load = (struct late_load){
		.bpf = &collector->bpf,
		.states = collector->states,
		.loaded = on_cpus_changed,
		.ctx = collector,
	};
	collector->crews =
		(struct crews){.procs = config->procs, .told = on_more_known, .ctx = collector};
	err = collector->run_times && collector->jit
	              ? late_load_open(&collector->late_load, config->loop)
	              : -ENOMEM;
	if (!err)
		err = load_kernel_half(&collector->bpf, collector->states, &source_config,
		                       config->unwind_bytes, ret_why);
	if (!err)
		err = crews_start(&collector->crews, config->loop, config->store)
		              ?: start_walkers(collector, ret_why);
	if (!err)
		jit_read_by(collector->jit, opener_crew(collector->crews.opener));
	if (!err)
		err = sideband_new(config->loop, config->procs, on_told, collector,
		                   &collector->sideband);
	if (!err)
		err = start_heaps(collector, ret_why);
	if (!err)
		err = open_gpu(collector, config->gpu_off, ret_why);
	if (!err)
		err = open_memory_watch(collector, config);
	if (err) {
		collector_free(collector);
		return err;
	}
	heaps_start_clock(collector->heaps);
	collector->heartbeat.bpf = &collector->bpf;
	collector->heartbeat.eve_of = collector_eve_of_flip;
	collector->heartbeat.drain = collector_drain;
	collector->heartbeat.ctx = collector;
	heartbeat_init(&collector->heartbeat, collector->loop);
	*ret_collector = collector;
	return 0;
}

int collector_attach(struct collector *collector, char ret_why[256])
{
	int err;

	heartbeat_begin(&collector->heartbeat);
	err = attach(collector);
	if (err) {
		perf_explain(err, ret_why);
		return err;
	}
	if (bpf_watch_exec(&collector->bpf))
		log_warning("cannot attach to exec: the first stacks after an exec may be wrong");
	return 0;
}

static void start_sources(struct collector *collector)
{
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		const struct source *source = sources[kind];
		int err = source->start ? source->start(&collector->states[kind]) : 0;

		if (err)
			log_warning("cannot record %s: %s; profd continues without it",
			            source->summary, strerror(-err));
	}
}

static void stop_sources(struct collector *collector)
{
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		sources[kind]->detach(&collector->states[kind]);
		if (sources[kind]->stop)
			sources[kind]->stop(&collector->states[kind]);
	}
}

int collector_start(struct collector *collector)
{
	int err;

	if (hotplug_start(&collector->hotplug, collector->loop, on_cpus_changed, collector))
		log_warning("cannot watch for CPU hotplug: profd samples only the CPUs that are "
		            "online now");
	runtimes_start(&collector->runtimes, collector->loop);
	/* Scan after the side-band is open, so that no process starts unseen in between. */
	procs_scan(collector->procs);
	on_told(collector->heartbeat.next_start_mono_ns, collector);
	err = sideband_clock_start(&collector->sideband_clock, collector->loop, &collector->bpf,
	                           collector->sideband);
	if (err)
		log_warning("cannot be notified of new programs: %s; their first stacks may be "
		            "truncated",
		            strerror(-err));
	start_sources(collector);
	memory_watch_start(collector->memory, &collector->bpf);
	return heartbeat_start(&collector->heartbeat);
}

void collector_stop(struct collector *collector)
{
	late_load_stop(&collector->late_load);
	stop_sources(collector);
	memory_watch_stop(collector->memory);
	bpf_unwatch_exec(&collector->bpf);
	bpf_unwatch_switches(&collector->bpf);
	unwinder_stop(collector->unwinder);
	heaps_stop(collector->heaps);
	runtimes_stop(&collector->runtimes);
	hotplug_stop(&collector->hotplug);
	sideband_clock_stop(&collector->sideband_clock);
	sideband_stop(collector->sideband);
	heartbeat_stop(&collector->heartbeat);
	jit_read_by(collector->jit, NULL);
	crews_stop(&collector->crews);
}

void collector_free(struct collector *collector)
{
	if (!collector)
		return;
	heaps_free(collector->heaps);
	gpu_free(collector->gpu);
	memory_watch_free(collector->memory);
	sideband_clock_release(&collector->sideband_clock);
	sideband_free(collector->sideband);
	unwinder_free(collector->unwinder);
	run_times_free(collector->run_times);
	threads_ran_release(&collector->ran);
	runtimes_free(&collector->runtimes);
	crews_free(&collector->crews);
	jit_free(collector->jit);
	late_load_release(&collector->late_load);
	unwind_maps_close(&collector->unwind_maps);
	bpf_release(&collector->bpf);
	free(collector);
}

void collector_cut(struct collector *collector, struct cut *cut)
{
	heartbeat_cut(&collector->heartbeat, cut);
}

void collector_cancel(struct collector *collector, struct cut *cut)
{
	heartbeat_cancel(&collector->heartbeat, cut);
}
