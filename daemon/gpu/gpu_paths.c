/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The builder grows for as long as the process lives. Slices, and profiles of what is held, merge
 * the parts that they need, as if the builder were a slice.
 */
#include "gpu/gpu_paths.h"

#include "base/accounts.h"
#include "base/hash.h"
#include "cuda/calls.h"
#include "ingest/source.h"
#include "ingest/tasks.h"
#include "profile/select.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MEMORY(name, text) text,
static const char *const memory_texts[GPU_MEMORY_COUNT] = {GPU_MEMORIES(MEMORY)};
#undef MEMORY

void gpu_device_text(uint8_t device, bool tensor, char ret_text[16])
{
	if (device == GPU_DEVICE_HOST)
		snprintf(ret_text, 16, "cpu");
	else if (device == GPU_DEVICE_UNKNOWN)
		snprintf(ret_text, 16, "unknown");
	else
		snprintf(ret_text, 16, "%s%u", tensor ? "cuda:" : "", device);
}

static uint32_t pseudo_path(struct gpu_paths *paths, const char *name)
{
	return builder_node(paths->builder, 0, places_pseudo(&paths->frames.places, name));
}

int gpu_paths_open(struct gpu_paths *paths, const struct drain_tables *tables, uint32_t pid)
{
	paths->pid = pid;
	paths->tables = *tables;
	paths->builder = builder_new();
	paths->kept = calloc(GPU_PATHS_KEPT, sizeof(*paths->kept));
	if (!paths->builder || !paths->kept)
		return -ENOMEM;
	paths->seed = hash_seed();
	paths->frames = frames_of(tables, paths->builder, &paths->losses);
	source_describe(sources[KIND_gpu_memory], 1, paths->builder);
	paths->none_path = pseudo_path(paths, "[stack not taken]");
	paths->full_path = pseudo_path(paths, "[stack not kept: too many of this process]");
	return builder_error(paths->builder);
}

void gpu_paths_close(struct gpu_paths *paths)
{
	places_release(&paths->frames.places);
	builder_free(paths->builder);
	free(paths->kept);
}

static uint64_t hash_of(const struct gpu_paths *paths, const uint64_t *words, size_t len)
{
	uint64_t hash = paths->seed;

	for (size_t i = 0; i < len; i++) {
		hash = (hash ^ words[i]) * 0xd6e8feb86659fd93;
		hash ^= hash >> 32;
	}
	return hash | 1;
}

/* Drops the recent stacks when the mappings have changed: the same addresses may have other
 * names. */
static void follow_mappings(struct gpu_paths *paths, const struct image *image)
{
	uint64_t serial = image ? mapping_set_serial(image->set) : 0;

	if (serial == paths->set_serial)
		return;
	paths->set_serial = serial;
	memset(paths->kept, 0, GPU_PATHS_KEPT * sizeof(*paths->kept));
}

uint32_t gpu_paths_add(struct gpu_paths *paths, const uint64_t *words, size_t len, uint64_t mono_ns,
                       struct runtime_version *ret_ran)
{
	const struct image *image = procs_image(paths->tables.procs, paths->pid, mono_ns);
	const struct stack_words stack = {.words = words, .len = len, .whole = true};
	uint64_t hash = hash_of(paths, words, len);
	uint64_t unknown = paths->losses.codes_unknown;
	struct gpu_path *kept = &paths->kept[hash >> 1 & (GPU_PATHS_KEPT - 1)];
	uint32_t path;

	*ret_ran = (struct runtime_version){0};
	if (!len)
		return paths->none_path;
	follow_mappings(paths, image);
	if (kept->hash == hash) {
		*ret_ran = kept->ran;
		return kept->path;
	}
	if (paths->crowded || builder_memory(paths->builder) > GPU_PATHS_BYTES) {
		paths->full++;
		return paths->full_path;
	}
	path = frames_add(&paths->frames, image, &stack);
	*ret_ran = paths->frames.ran;
	/* A stack with unknown code is not kept: the code may be known when it is seen
	 * again. */
	if (path && unknown == paths->losses.codes_unknown)
		*kept = (struct gpu_path){hash, path, *ret_ran};
	return path ?: paths->none_path;
}

static bool same_labels(const struct gpu_labels *a, const struct gpu_labels *b)
{
	return a->device == b->device && a->memory == b->memory && a->call == b->call &&
	       a->via == b->via && a->tensor == b->tensor && a->failed == b->failed &&
	       a->ran.runtime == b->ran.runtime && a->ran.version == b->ran.version;
}

/* Memory belongs to the process, whichever thread allocated it. */
static uint32_t make_task(struct gpu_paths *paths, const struct gpu_labels *labels,
                          uint64_t mono_ns)
{
	const struct image *image = procs_image(paths->tables.procs, paths->pid, mono_ns);
	struct task task = {
		.pid = paths->pid,
		.tid = paths->pid,
		.account = account_of(paths->owner),
	};
	char device[16], memory[32];

	gpu_device_text(labels->device, labels->tensor, device);
	snprintf(memory, sizeof(memory), "%s%s", memory_texts[labels->memory],
	         labels->failed ? ", failed" : "");
	task_identify(&task, paths->builder, &paths->tables, image, labels->ran, mono_ns);
	task.device = builder_text(paths->builder, device);
	task.memory = builder_text(paths->builder, memory);
	task.call = builder_text(paths->builder,
	                         gpu_call_name(labels->via ? labels->via : labels->call));
	return builder_task(paths->builder, &task);
}

uint32_t gpu_paths_task(struct gpu_paths *paths, const struct gpu_labels *labels, uint64_t mono_ns)
{
	uint32_t task;

	for (size_t i = 0; i < paths->task_count; i++)
		if (same_labels(&paths->tasks[i].labels, labels))
			return paths->tasks[i].task;
	task = make_task(paths, labels, mono_ns);
	if (paths->task_count == GPU_PATHS_TASKS)
		paths->task_count = 0;
	paths->tasks[paths->task_count].labels = *labels;
	paths->tasks[paths->task_count++].task = task;
	return task;
}

void gpu_paths_refresh(struct gpu_paths *paths)
{
	paths->task_count = 0;
}

int gpu_paths_merge(struct gpu_paths *paths, const struct sample *samples, uint32_t count,
                    struct builder *into)
{
	struct profile slice, *slices = &slice;
	int err = builder_error(paths->builder);

	if (err || count < 2)
		return err;
	slice = *builder_view(paths->builder);
	slice.samples = samples;
	slice.sample_count = count;
	return select_merge(into, &slices, 1, &select_all);
}

size_t gpu_paths_memory(const struct gpu_paths *paths)
{
	return builder_memory(paths->builder) + GPU_PATHS_KEPT * sizeof(*paths->kept);
}
