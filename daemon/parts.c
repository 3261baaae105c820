/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kernel half is loaded before the parts that only name what it records.
 */
#include "parts.h"

#include "base/clock.h"
#include "base/log.h"
#include "ingest/source.h"
#include "memory/reader.h"
#include "privileges.h"
#include "proc/owner.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* The slices of the last minute are not merged yet, because most requests are for them. */
static const uint64_t fine_ns = 60 * NSEC_PER_SEC;
/* Deadline for reading PSS; a process of 100 GiB takes more than half of it. */
static const uint64_t pss_ns = 2 * NSEC_PER_SEC;

static struct history *open_history(const struct config *config)
{
	const struct recorder_limits limits = {
		.window_ns = HISTORY_WINDOW_NS,
		.fine_ns = fine_ns,
		.keep_ns = config->history_ns,
		.max_bytes = config->history_bytes,
	};
	uint32_t shares[KIND_COUNT];

	for (int kind = 0; kind < KIND_COUNT; kind++)
		shares[kind] = sources[kind]->history_weight;
	return history_new(&limits, shares, KIND_COUNT, sources_weight());
}

/* The part of history-memory that is for the timelines of memory. */
static size_t memory_bytes(const struct config *config)
{
	return config->history_bytes * MEMORY_WEIGHT / sources_weight();
}

/* Half of the descriptors are for clients, ring buffers and probes. */
static size_t max_objects(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur / 2 > MAX_OBJECTS)
		return MAX_OBJECTS;
	return limit.rlim_cur / 2;
}

static int build_pss(struct parts *parts, uv_loop_t *loop)
{
	const struct pss_config config = {
		.loop = loop,
		.deadline_ns = pss_ns,
		.read = memory_read_pss,
		.owner = owner_read,
	};

	return pss_reader_new(&config, &parts->pss);
}

static int build_keepers(struct parts *parts, const struct parts_config *config)
{
	parts->render = lane_new(config->loop, WORK_render, MAX_RENDER_QUEUE);
	parts->store = store_new(max_objects());
	parts->passwords = lane_new(config->loop, WORK_passwords, MAX_PASSWORD_QUEUE);
	parts->processes = lane_new(config->loop, WORK_processes, MAX_PROCESSES_QUEUE);
	parts->cmdlines = lane_new(config->loop, WORK_cmdlines, MAX_PROCESSES_QUEUE);
	parts->aside = aside_new();
	parts->tasks_aside = aside_new();
	if (!parts->render || !parts->passwords || !parts->processes || !parts->cmdlines ||
	    !parts->aside || !parts->tasks_aside || !parts->store)
		return -ENOMEM;
	parts->nvml = nvml_new(config->loop);
	parts->procs = procs_new(parts->store);
	parts->history = open_history(config->config);
	if (!parts->procs || !parts->history || !parts->nvml)
		return -ENOMEM;
	return build_pss(parts, config->loop);
}

static int attach_collector(struct parts *parts, const struct parts_config *config, char why[256])
{
	const struct config *settings = config->config;
	struct collector_config collector = {
		.loop = config->loop,
		.procs = parts->procs,
		.store = parts->store,
		.history = parts->history,
		.sample_hz = (uint32_t)settings->sample_hz,
		.unwind_bytes = settings->unwind_bytes,
		.keep_ns = settings->history_ns,
		.memory_bytes = memory_bytes(settings),
		.growth = {settings->growth != AUTO_NO, settings->growth == AUTO_YES},
		.waits = settings->waits,
		.faults = settings->faults,
		.gpu_off = !settings->gpu,
		.drained = config->drained,
		.ctx = config->ctx,
	};
	int err = collector_new(&collector, &parts->collector, why);

	parts->watches = (struct task_watches){.loop = config->loop,
	                                       .collector = parts->collector,
	                                       .lane = parts->cmdlines,
	                                       .aside = parts->tasks_aside,
	                                       .taken = {.whole = TASK_WATCHES}};
	return err ? err : collector_attach(parts->collector, why);
}

static void open_fetch(struct parts *parts, const struct config *config)
{
	const struct fetch_config fetch = {
		.program = READER_SELF,
		.servers = config->debuginfod,
		.max_bytes = config->debuginfod_bytes,
	};
	int err = config->debuginfod ? fetch_new(&fetch, &parts->fetch) : 0;

	if (err)
		log_warning("cannot fetch debug files: %s; profd continues without them",
		            strerror(-err));
}

/* Fetching files starts a thread of its own. */
static int build_names(struct parts *parts, const struct config *config)
{
	struct symbolizer_config symbolizer = {
		.store = parts->store,
		.jit = collector_jit(parts->collector),
		.program = READER_SELF,
		.max_bytes = config->symbol_bytes,
	};

	open_fetch(parts, config);
	symbolizer.fetch = parts->fetch;
	parts->symbolizer = symbolizer_new(&symbolizer);
	return parts->symbolizer ? 0 : -ENOMEM;
}

static int start_exports(struct parts *parts, const struct parts_config *config)
{
	const struct config *settings = config->config;
	const struct exports_config exports = {
		.loop = config->loop,
		.target = settings->export,
		.every_ns = settings->export_ns,
		.max_bytes = settings->export_bytes,
		.from = {parts->collector, parts->history, parts->procs, NULL, NULL},
		.symbolizer = parts->symbolizer,
		.render = parts->render,
		.host = config->host,
	};

	if (!settings->export)
		return 0;
	if (settings->export_ns >= settings->history_ns)
		log_warning("export-interval is not shorter than history: profd may not export "
		            "everything that it records");
	parts->exports = exports_new(&exports);
	if (!parts->exports)
		return -ENOMEM;
	exports_start(parts->exports);
	return 0;
}

static int cannot_start(int err, char why[256])
{
	snprintf(why, 256, "cannot start: %s", strerror(-err));
	return err;
}

/* Threads inherit the capabilities of the thread that starts them, so capabilities are reduced
 * before the first thread is started. */
int parts_start(struct parts *parts, const struct parts_config *config, char ret_why[256])
{
	int err = privileges_reduce();

	if (!err)
		err = build_keepers(parts, config);
	if (err)
		return cannot_start(err, ret_why);
	err = attach_collector(parts, config, ret_why);
	if (err)
		return err;
	err = build_names(parts, config->config);
	if (!err)
		err = collector_start(parts->collector);
	if (!err)
		err = start_exports(parts, config);
	return err ? cannot_start(err, ret_why) : 0;
}

void parts_resize(struct parts *parts, const struct config *config)
{
	history_resize(parts->history, config->history_bytes);
	collector_resize(parts->collector, memory_bytes(config));
}

void parts_stop(struct parts *parts)
{
	exports_stop(parts->exports);
	if (parts->collector)
		collector_stop(parts->collector);
	if (parts->render)
		lane_stop(parts->render);
	if (parts->passwords)
		lane_stop(parts->passwords);
	if (parts->processes)
		lane_stop(parts->processes);
	if (parts->cmdlines)
		lane_stop(parts->cmdlines);
	pss_reader_stop(parts->pss);
	/* The current job is waited for, but its answer is not needed. */
	if (parts->symbolizer)
		symbolizer_cancel(parts->symbolizer);
	nvml_stop(parts->nvml);
}

void parts_release(struct parts *parts)
{
	exports_free(parts->exports);
	if (parts->collector)
		collector_free(parts->collector);
	symbolizer_free(parts->symbolizer);
	fetch_free(parts->fetch);
	history_free(parts->history);
	procs_free(parts->procs);
	store_free(parts->store);
	lane_free(parts->render);
	lane_free(parts->passwords);
	lane_free(parts->processes);
	lane_free(parts->cmdlines);
	shares_clear(&parts->watches.taken);
	aside_free(parts->tasks_aside);
	aside_free(parts->aside);
	pss_reader_free(parts->pss);
	nvml_free(parts->nvml);
}
