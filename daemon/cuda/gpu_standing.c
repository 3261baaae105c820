/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Every process whose mappings change is checked for a file with the name of the driver or of
 * PyTorch, which costs one comparison for each mapping. The other files matter only in a process
 * that has the driver: those with the runtime's name at once, the others when they have been
 * searched.
 */
#include "cuda/gpu_standing.h"

#include "base/bounds.h"
#include "base/clean.h"
#include "base/lane.h"
#include "base/pid_set.h"
#include "cuda/gpu_files.h"
#include "cuda/gpu_search.h"
#include "kernel/uprobes.h"
#include "probes/file_opener.h"
#include "probes/file_seen.h"
#include "proc/sets_without.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	LOOK_MS = 10, /* from a change of a process until changed processes are inspected */
	/* Between sweeps for files that no process maps any more: a program that runs once a minute
	 * finds its files probed. */
	SWEEP_MS = 600000,
	MAX_CHANGED = 16384, /* processes until then; others are inspected at their next change */
	MAX_JOBS = 1024,     /* files in a lane; others are asked for again */
	SHOWN_PATH = 70,     /* bytes of a path that fit into a reason */
};

struct gpu_standing {
	struct gpu_standing_config config;
	/* Attaching has a lane of its own, so that it does not wait for files that are searched. */
	struct lane *attaching, *searching;
	struct job loading; /* the first job of `attaching` */
	struct reader *attach_reader, *search_reader;
	struct file_opener *opener;
	struct gpu_files *files;
	struct gpu_search *search;
	struct procs_watcher watcher;
	struct pid_set changed, waiting;
	struct sets_without without; /* CUDA's driver, and PyTorch */
	uv_timer_t look, sweep;
	bool started, stopped;
};

static void on_look(uv_timer_t *timer);
static void on_sweep(uv_timer_t *timer);

static void look_soon(struct gpu_standing *standing)
{
	if (standing->started && !standing->stopped &&
	    !uv_is_active((uv_handle_t *)&standing->look))
		uv_timer_start(&standing->look, on_look, LOOK_MS, 0);
}

static void note_change(uint32_t pid, void *ctx)
{
	struct gpu_standing *standing = ctx;

	pid_set_add(&standing->changed, pid);
	look_soon(standing);
}

static void note_process(const struct proc *proc, void *ctx)
{
	note_change(proc->pid, ctx);
}

/* A process that waits for a file may find it ready now. */
static void note_found(void *ctx)
{
	struct gpu_standing *standing = ctx;

	pid_set_move(&standing->waiting, &standing->changed);
	look_soon(standing);
}

static void note_files(void *ctx)
{
	struct gpu_standing *standing = ctx;

	if (standing->stopped)
		return;
	note_found(standing); /* there may be room now */
	standing->config.changed(standing->config.ctx);
}

/* False: the process has to wait for room, or for the file to be opened. */
static bool use(struct gpu_standing *standing, struct file_seen *seen, uint32_t pid,
                const struct proc_mapping *mapping, uint32_t libraries)
{
	return !file_seen_use(seen, mapping) ||
	       gpu_files_use(standing->files, pid, mapping, libraries);
}

/* Goes first: events missed before the driver is probed are missed for good. PyTorch's tensors are
 * wanted even for programs without a GPU. Returns whether the process has the driver. */
static bool use_driver(struct gpu_standing *standing, uint32_t pid, const struct mapping_set *set)
{
	size_t count = mapping_set_count(set);
	bool has_driver = false, has_any = false;
	struct file_seen seen = {0};

	for (size_t i = 0; i < count; i++) {
		const struct proc_mapping *mapping = mapping_set_at(set, i);
		uint32_t libraries;

		if (!file_seen_is_new(&seen, mapping))
			continue;
		libraries = gpu_libraries_named(mapping->path) &
		            (GPU_LIBRARY_DRIVER | GPU_LIBRARY_TORCH);
		if (!libraries)
			continue;
		has_any = true;
		has_driver |= libraries == GPU_LIBRARY_DRIVER;
		if (!use(standing, &seen, pid, mapping, libraries))
			pid_set_add(&standing->waiting, pid);
		if (!uv_is_active((uv_handle_t *)&standing->sweep))
			uv_timer_start(&standing->sweep, on_sweep, SWEEP_MS, SWEEP_MS);
	}
	if (!has_any)
		sets_without_add(&standing->without, set);
	return has_driver;
}

static bool use_others(struct gpu_standing *standing, uint32_t pid, const struct mapping_set *set)
{
	size_t count = mapping_set_count(set);
	bool waits = false, pending = false;
	struct file_seen seen = {0};

	for (size_t i = 0; i < count; i++) {
		const struct proc_mapping *mapping = mapping_set_at(set, i);
		uint32_t libraries;

		if (!file_seen_is_new(&seen, mapping) || *mapping->path == '[')
			continue;
		libraries = gpu_libraries_named(mapping->path);
		if (libraries == GPU_LIBRARY_DRIVER)
			continue;
		if (!libraries) {
			libraries = gpu_search_get(standing->search, mapping->object, &pending);
			waits |= pending;
		}
		if (libraries)
			waits |= !use(standing, &seen, pid, mapping, libraries);
	}
	return waits;
}

static void look_at(uint32_t pid, void *ctx)
{
	struct gpu_standing *standing = ctx;
	const struct mapping_set *set = procs_mappings(standing->config.procs, pid);

	if (!set || sets_without_has(&standing->without, set))
		return;
	if (use_driver(standing, pid, set) && use_others(standing, pid, set))
		pid_set_add(&standing->waiting, pid);
}

static void on_look(uv_timer_t *timer)
{
	struct gpu_standing *standing = timer->data;

	if (pid_set_take_some(&standing->changed, look_at, standing))
		uv_timer_start(timer, on_look, PID_SET_PIECE_MS, 0);
}

static void on_sweep(uv_timer_t *timer)
{
	struct gpu_standing *standing = timer->data;

	if (!gpu_files_sweep(standing->files))
		uv_timer_stop(timer);
}

static int make_parts(struct gpu_standing *standing)
{
	const struct gpu_standing_config *config = &standing->config;

	standing->attaching = lane_new(config->loop, WORK_gpu, MAX_JOBS);
	standing->searching = lane_new(config->loop, WORK_gpu_search, MAX_JOBS);
	standing->attach_reader =
		reader_new(&(struct reader_program){READER_SELF, "gpu", MAX_GPU_READER_BYTES, 0});
	standing->search_reader = reader_new(
		&(struct reader_program){READER_SELF, "gpu-search", MAX_GPU_READER_BYTES, 5});
	standing->opener = file_opener_new(config->crew, config->store, note_found, standing);
	if (!standing->attaching || !standing->searching || !standing->attach_reader ||
	    !standing->search_reader || !standing->opener)
		return -ENOMEM;
	standing->files = gpu_files_new(&(struct gpu_files_config){
		.lane = standing->attaching,
		.reader = standing->attach_reader,
		.procs = config->procs,
		.opener = standing->opener,
		.kernel = config->kernel,
		.changed = note_files,
		.ctx = standing,
	});
	standing->search = gpu_search_new(standing->searching, standing->search_reader,
	                                  config->store, note_found, standing);
	return !standing->files || !standing->search ||
	                       pid_set_init(&standing->changed, MAX_CHANGED) ||
	                       pid_set_init(&standing->waiting, MAX_CHANGED)
	               ? -ENOMEM
	               : 0;
}

int gpu_standing_new(const struct gpu_standing_config *config, struct gpu_standing **ret_standing)
{
	struct gpu_standing *standing = calloc(1, sizeof(*standing));

	*ret_standing = standing;
	if (!standing)
		return -ENOMEM;
	standing->config = *config;
	return make_parts(standing);
}

/* On the lane. The outcome is reported with the first file. */
static void load(struct job *job)
{
	struct gpu_standing *standing =
		(struct gpu_standing *)((char *)job - offsetof(struct gpu_standing, loading));
	struct gpu_programs programs;

	gpu_kernel_load(standing->config.kernel, &programs);
}

static void on_loaded(struct job *job)
{
	(void)job;
}

/* On a host with a GPU some process will use it. The programs are loaded before that; otherwise the
 * first such process would be seen half a second late. */
static void load_where_a_gpu_is(struct gpu_standing *standing)
{
	standing->loading = (struct job){load, on_loaded, NULL};
	if (access("/proc/driver/nvidia/version", F_OK) == 0)
		lane_submit(standing->attaching, &standing->loading);
}

void gpu_standing_start(struct gpu_standing *standing)
{
	struct procs *procs = standing->config.procs;

	uv_timer_init(standing->config.loop, &standing->look);
	uv_timer_init(standing->config.loop, &standing->sweep);
	standing->look.data = standing;
	standing->sweep.data = standing;
	standing->started = true;
	load_where_a_gpu_is(standing);
	procs_each(procs, note_process, standing);
	standing->watcher = (struct procs_watcher){.fn = note_change, .ctx = standing};
	procs_watch(procs, &standing->watcher);
}

void gpu_standing_stop(struct gpu_standing *standing)
{
	standing->stopped = true;
	if (!standing->started)
		return;
	procs_unwatch(standing->config.procs, &standing->watcher);
	lane_stop(standing->searching);
	lane_stop(standing->attaching);
	reader_cancel(standing->search_reader);
	reader_cancel(standing->attach_reader);
	uv_close((uv_handle_t *)&standing->look, NULL);
	uv_close((uv_handle_t *)&standing->sweep, NULL);
}

void gpu_standing_free(struct gpu_standing *standing)
{
	if (!standing)
		return;
	gpu_files_free(standing->files);
	file_opener_free(standing->opener);
	gpu_search_free(standing->search);
	pid_set_release(&standing->changed);
	pid_set_release(&standing->waiting);
	lane_free(standing->attaching);
	lane_free(standing->searching);
	reader_free(standing->attach_reader);
	reader_free(standing->search_reader);
	free(standing);
}

static uint32_t libraries_of(enum gpu_layer layer)
{
	switch (layer) {
	case GPU_LAYER_DRIVER:
		return GPU_LIBRARY_DRIVER;
	case GPU_LAYER_TENSOR:
		return GPU_LIBRARIES_TENSOR;
	default:
		return 0;
	}
}

static const char *why_nothing(enum gpu_layer layer)
{
	switch (layer) {
	case GPU_LAYER_DRIVER:
		return "no process has CUDA's driver (libcuda.so.1) mapped";
	case GPU_LAYER_TENSOR:
		return "no process has PyTorch (libc10.so) mapped, or XLA with CUDA's driver";
	default:
		return "no process has the helper library (libprofd-cuda.so)";
	}
}

/* The path is any bytes that a program chose. A character is shown whole or not at all. */
static void explain(const struct gpu_kernel *kernel, const struct gpu_files_status *files,
                    struct gpu_layer_status *status)
{
	const char *why = gpu_kernel_why(kernel);
	char path[4096];

	/* These reasons are not about this file. */
	if (*why) {
		snprintf(status->why, sizeof(status->why), "%s", why);
		return;
	}
	if (files->err == -EACCES) {
		snprintf(status->why, sizeof(status->why), "%s", uprobes_error(files->err));
		return;
	}
	snprintf(path, sizeof(path), "%s", files->path);
	clean_text(path);
	if (strlen(path) > SHOWN_PATH)
		path[clean_prefix(path, SHOWN_PATH)] = '\0';
	snprintf(status->why, sizeof(status->why), "cannot probe %.*s: %s", SHOWN_PATH, path,
	         files->err == -EPERM ? "see the setting user-probes" : strerror(-files->err));
}

void gpu_standing_status(const struct gpu_standing *standing, enum gpu_layer layer,
                         struct gpu_layer_status *ret_status)
{
	struct gpu_files_status files = {0};

	*ret_status = (struct gpu_layer_status){0};
	gpu_files_status(standing->files, libraries_of(layer), &files);
	ret_status->on = files.attached > 0;
	if (!ret_status->on && files.err)
		explain(standing->config.kernel, &files, ret_status);
	else if (!ret_status->on)
		snprintf(ret_status->why, sizeof(ret_status->why), "%s", why_nothing(layer));
}

void gpu_standing_counts(const struct gpu_standing *standing, struct gpu_files_status *ret_files)
{
	*ret_files = (struct gpu_files_status){0};
	if (standing->files)
		gpu_files_status(standing->files, GPU_LIBRARY_ALL, ret_files);
}

uint64_t gpu_standing_put_off(const struct gpu_standing *standing)
{
	return standing->search ? gpu_search_put_off(standing->search) : 0;
}

void gpu_standing_add_reader_stats(const struct gpu_standing *standing, struct reader_stats *stats)
{
	reader_add_stats(standing->attach_reader, stats);
	reader_add_stats(standing->search_reader, stats);
}
