/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu - everything about GPUs: which processes have CUDA's driver mapped and where it is
 * probed (cuda/gpu_standing.h), what the probes reported (gpu/gpu_events.h), and the slices
 * and figures made from that. Nothing is attached, and nothing is done, until a process maps
 * libcuda.so.1 or PyTorch. Loop thread only.
 */
#pragma once

#include "base/cleanup.h"
#include "gpu/gpu_stats.h"
#include "gpu/gpu_totals.h"
#include "ingest/drain.h"
#include "ingest/source.h"
#include "memory/keepsakes.h"
#include "profile/profile.h"
#include "reader/reader.h"

#include <stdbool.h>
#include <uv.h>

struct gpu;

/* The configuration. Everything it refers to outlives struct gpu. */
struct gpu_config {
	uv_loop_t *loop;
	struct bpf *bpf;
	struct drain_tables tables;
	/* Brings the process table, and what is known of interpreted code, up to date. */
	void (*read_tables)(void *ctx);
	/* Of all sources. `own`, `on` and `why` are set for the GPU kinds only. */
	struct source_state *states;
	bool off; /* nothing is attached */
	/* An allocation failed for lack of GPU memory. The keepsake holds the profile of the memory
	 * that the process held at that moment; the callee takes over the profile. */
	void (*out_of_memory)(const struct keepsake *what, void *ctx);
	void *ctx;
};

int gpu_new(const struct gpu_config *config, struct gpu **ret_gpu);
void gpu_start(struct gpu *gpu);
/* Detaches. The loop then runs until the handles have closed; gpu_free() comes after that. */
void gpu_stop(struct gpu *gpu);
void gpu_free(struct gpu *gpu); /* takes NULL */

/* Reads all events that the probes have reported so far, unless there were so many lately that
 * reading has used up its time: then what is known is some hundredths of a second old. */
void gpu_read(struct gpu *gpu);
/* The hooks of the GPU sources, see ingest/source.h. gpu_read_before_drain() does not read the
 * tables: before a drain they are up to date. */
void gpu_read_before_drain(struct gpu *gpu);
int gpu_fill(struct gpu *gpu, struct half *half, enum profile_kind kind, struct builder *into,
             uint64_t *ret_samples);
void gpu_filled(struct gpu *gpu, uint64_t length_ns);
int gpu_in_use(struct gpu *gpu, enum profile_kind kind, struct builder *into);

/* Goes by pid, then by device. Stops when `fn` returns non-zero, and returns that value. */
int gpu_each(const struct gpu *gpu, gpu_figures_fn *fn, void *ctx);

/* Why nothing is known of GPUs; "" where the probes of the driver's calls or of tensors are on. */
const char *gpu_why_off(const struct gpu *gpu);

void gpu_get_stats(const struct gpu *gpu, struct gpu_stats *ret_stats);
void gpu_add_reader_stats(const struct gpu *gpu, struct reader_stats *stats);
