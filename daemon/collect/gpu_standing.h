/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_standing - the files with CUDA's driver, its runtime and PyTorch's allocators, that
 * any process maps: each is probed once, for every process that has it now or later. What is in a
 * file is read on a lane by a reader process. Loop thread only.
 *
 * A process that maps the driver is noticed at once, looked at LOOK_MS later and probed some ten
 * milliseconds after that; what it does until then is not seen. cuInit(), which comes first, takes
 * longer on a host with a GPU. The programs are loaded soon after the start where NVIDIA's driver
 * is, and for the first such process elsewhere, which takes half a second more.
 */
#pragma once

#include "base/cleanup.h"
#include "base/crew.h"
#include "collect/gpu_kernel.h"
#include "object/store.h"
#include "proc/proc.h"
#include "reader/reader.h"

#include <stdbool.h>
#include <uv.h>

struct gpu_standing;

/* All of it outlives it. */
struct gpu_standing_config {
	uv_loop_t *loop;
	struct procs *procs;
	struct store *store;
	struct crew *crew; /* is stopped after it, and before it is freed */
	const struct gpu_kernel *kernel;
	/* After probes were attached, or could not be. */
	void (*changed)(void *ctx);
	void *ctx;
};

/* How it stands with a layer, for people. */
struct gpu_layer_status {
	bool on;       /* a file of it is probed */
	char why[128]; /* it is off; harmless text (base/clean.h) */
};

int gpu_standing_new(const struct gpu_standing_config *config, struct gpu_standing **ret_standing);
int gpu_standing_start(struct gpu_standing *standing);
void gpu_standing_stop(struct gpu_standing *standing);
void gpu_standing_free(struct gpu_standing *standing); /* after the loop; takes NULL */

void gpu_standing_status(const struct gpu_standing *standing, enum gpu_layer layer,
                         struct gpu_layer_status *ret_status);
void gpu_standing_counts(const struct gpu_standing *standing, uint64_t *ret_files,
                         uint64_t *ret_sites);
void gpu_standing_add_reader_stats(const struct gpu_standing *standing, struct reader_stats *stats);
