/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_paths - the stacks of one process's allocations as call paths, made at once, while it
 * has its mappings. Stacks that were seen lately are found by their words and cost next to nothing.
 * Bounded in bytes: then new stacks are one path that says so. Loop thread only.
 */
#pragma once

#include "collect/drain.h"
#include "collect/frames.h"
#include "profile/builder.h"

enum {
	GPU_PATHS_KEPT = 1024,      /* stacks seen lately; a power of two */
	GPU_PATHS_TASKS = 16,       /* tasks used lately */
	GPU_PATHS_BYTES = 64 << 20, /* of one process's call paths */
};

struct gpu_path {
	uint64_t hash; /* of its words; 0: none */
	uint32_t path, python_version;
};

/* What an allocation's labels say. */
struct gpu_labels {
	uint8_t device, memory, call, via;
	bool tensor, failed;
	uint32_t python_version;
};

struct gpu_paths {
	uint32_t pid;
	uint32_t owner; /* whose it is, for the past */
	struct drain_tables tables;
	struct drain_losses losses;
	struct builder *builder; /* never sealed; describes itself as a slice of KIND_gpu_memory */
	struct frames frames;
	struct gpu_path *kept;
	uint64_t seed, set_serial; /* of the mappings that `kept` are of */
	uint32_t none_path, full_path;
	struct {
		struct gpu_labels labels;
		uint32_t task;
	} tasks[GPU_PATHS_TASKS];
	size_t task_count;
	bool crowded;  /* all processes together have too much: nothing new is kept */
	uint64_t full; /* stacks that found no room */
};

int gpu_paths_open(struct gpu_paths *paths, const struct drain_tables *tables, uint32_t pid);
void gpu_paths_close(struct gpu_paths *paths);

/* The path of a stack that the process had then; without words "[stack not taken]". */
uint32_t gpu_paths_add(struct gpu_paths *paths, const uint64_t *words, size_t len, uint64_t mono_ns,
                       uint32_t *ret_python_version);
uint32_t gpu_paths_task(struct gpu_paths *paths, const struct gpu_labels *labels, uint64_t mono_ns);
/* What was looked up of the process may have changed; once a second. */
void gpu_paths_refresh(struct gpu_paths *paths);
/* Merges samples (the first one is none) of these paths and tasks. 0 or -ENOMEM. */
int gpu_paths_merge(struct gpu_paths *paths, const struct sample *samples, uint32_t count,
                    struct builder *into);
size_t gpu_paths_memory(const struct gpu_paths *paths);

/* "0", "cuda:0", "cpu", "unknown". */
void gpu_device_text(uint8_t device, bool tensor, char ret_text[16]);
