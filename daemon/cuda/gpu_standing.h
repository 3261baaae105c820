/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_standing - the files with CUDA's driver, its runtime and PyTorch's allocators that any
 * process maps. Each is probed once, for every process that maps it now or later. A reader process
 * reads the files, on a lane. Loop thread only.
 *
 * A process that maps the driver is noticed at once, inspected LOOK_MS later and probed some ten
 * milliseconds after that; what it does before that is not seen. On a host with a GPU, cuInit(),
 * which comes first, takes longer than that. Where NVIDIA's driver is present, the programs are
 * loaded soon after the start. Elsewhere they are loaded for the first such process, which takes
 * half a second more.
 */
#pragma once

#include "base/cleanup.h"
#include "base/crew.h"
#include "cuda/gpu_files.h"
#include "kernel/gpu_kernel.h"
#include "object/store.h"
#include "proc/proc.h"
#include "reader/reader.h"

#include <stdbool.h>
#include <uv.h>

struct gpu_standing;

/* Everything here outlives struct gpu_standing. */
struct gpu_standing_config {
	uv_loop_t *loop;
	struct procs *procs;
	struct store *store;
	struct crew *crew; /* stopped after struct gpu_standing is, and before that is freed */
	const struct gpu_kernel *kernel;
	/* Called after probes were attached, or could not be attached. */
	void (*changed)(void *ctx);
	void *ctx;
};

/* The state of a layer, for people. */
struct gpu_layer_status {
	bool on;       /* a file of it is probed */
	char why[128]; /* why it is off; harmless text (base/clean.h) */
};

int gpu_standing_new(const struct gpu_standing_config *config, struct gpu_standing **ret_standing);
void gpu_standing_start(struct gpu_standing *standing);
void gpu_standing_stop(struct gpu_standing *standing);
void gpu_standing_free(struct gpu_standing *standing); /* after the loop; takes NULL */

void gpu_standing_status(const struct gpu_standing *standing, enum gpu_layer layer,
                         struct gpu_layer_status *ret_status);
void gpu_standing_counts(const struct gpu_standing *standing, struct gpu_files_status *ret_files);
/* How often a file was not searched for CUDA yet, for lack of room. */
uint64_t gpu_standing_put_off(const struct gpu_standing *standing);
void gpu_standing_add_reader_stats(const struct gpu_standing *standing, struct reader_stats *stats);
