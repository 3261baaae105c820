/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_paths - the stacks of one process's allocations as call paths. They are made at once,
 * while the process has its mappings. Stacks that were seen lately are found by their words, which
 * costs next to nothing. Bounded in bytes: beyond that, all new stacks share one path that says so.
 * Loop thread only.
 */
#pragma once

#include "ingest/drain.h"
#include "ingest/frames.h"
#include "profile/builder.h"

enum {
	GPU_PATHS_KEPT = 1024,      /* recent stacks; a power of two */
	GPU_PATHS_TASKS = 16,       /* recent tasks */
	GPU_PATHS_BYTES = 64 << 20, /* of one process's call paths */
};

struct gpu_path {
	uint64_t hash; /* of its words; 0: none */
	uint32_t path;
	struct runtime_version ran;
};

/* The labels of an allocation. */
struct gpu_labels {
	uint8_t device, memory, call, via;
	bool tensor, failed;
	struct runtime_version ran;
};

struct gpu_paths {
	uint32_t pid;
	uint32_t owner; /* the process's user; its account goes into tasks */
	struct drain_tables tables;
	struct drain_losses losses;
	struct builder *builder; /* never sealed; has the types of KIND_gpu_memory */
	struct frames frames;
	struct gpu_path *kept;
	uint64_t seed, set_serial; /* the serial of the mappings that `kept` is based on */
	uint32_t none_path, full_path;
	struct {
		struct gpu_labels labels;
		uint32_t task;
	} tasks[GPU_PATHS_TASKS];
	size_t task_count;
	bool crowded;  /* the user's feeds take too much memory: nothing new is kept */
	uint64_t full; /* stacks that found no room */
};

int gpu_paths_open(struct gpu_paths *paths, const struct drain_tables *tables, uint32_t pid);
void gpu_paths_close(struct gpu_paths *paths);

/* The path of a stack that the process had at that time; without words "[stack not taken]". */
uint32_t gpu_paths_add(struct gpu_paths *paths, const uint64_t *words, size_t len, uint64_t mono_ns,
                       struct runtime_version *ret_ran);
uint32_t gpu_paths_task(struct gpu_paths *paths, const struct gpu_labels *labels, uint64_t mono_ns);
/* Called once a second: what was looked up for the process may have changed. */
void gpu_paths_refresh(struct gpu_paths *paths);
/* Merges samples of these paths and tasks; the first sample stands for none. 0 or -ENOMEM. */
int gpu_paths_merge(struct gpu_paths *paths, const struct sample *samples, uint32_t count,
                    struct builder *into);
size_t gpu_paths_memory(const struct gpu_paths *paths);

/* "0", "cuda:0", "cpu", "unknown". */
void gpu_device_text(uint8_t device, bool tensor, char ret_text[16]);
