/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kinds of profile about GPUs. There is nothing to attach at the start: collect/gpu_standing.h
 * does so when a process maps CUDA's driver, and says here that they are on.
 */
#include "collect/source.h"

#include <stdio.h>

static void configure(const struct source_config *config, const char *why,
                      struct source_state *state)
{
	state->config = *config;
	state->period = 1;
	snprintf(state->why, sizeof(state->why), "%s", why);
}

static void of_driver(struct bpf *bpf, const struct source_config *config,
                      struct source_state *state)
{
	(void)bpf;
	configure(config, "no process has CUDA's driver (libcuda.so.1) mapped", state);
}

static void of_helper(struct bpf *bpf, const struct source_config *config,
                      struct source_state *state)
{
	(void)bpf;
	configure(config, "no program was started with the helper (libprofd-cuda.so)", state);
}

static int gpu_attach(struct bpf *bpf, const bool *online, struct source_state *state)
{
	(void)bpf;
	(void)online;
	(void)state;
	return 0;
}

static void gpu_detach(struct source_state *state)
{
	state->on = false;
}

#define HELD                                                                                      \
	{                                                                                         \
		{"alloc_objects", "count"}, {"alloc_space", "bytes"}, {"inuse_objects", "count"}, \
		{                                                                                 \
			"inuse_space", "bytes"                                                    \
		}                                                                                 \
	}

#define GPU_SOURCE(kind, before, text, ...)   \
	const struct source source_##kind = { \
		.name = #kind,                \
		.summary = text,              \
		.values = __VA_ARGS__,        \
		.history_share = 1,           \
		.configure = before,          \
		.attach = gpu_attach,         \
		.detach = gpu_detach,         \
	}

GPU_SOURCE(gpu_memory, of_driver, "memory allocated of GPUs, and held now", HELD);
GPU_SOURCE(gpu_tensor, of_driver, "memory of frameworks' tensors, allocated and held now", HELD);
GPU_SOURCE(gpu_launch, of_driver, "launches of GPU kernels and graphs", {{"launches", "count"}});
GPU_SOURCE(gpu_copy, of_driver, "copies to, from and on GPUs",
           {{"copies", "count"}, {"copied", "bytes"}});
GPU_SOURCE(gpu_wait, of_driver, "time spent waiting for GPUs",
           {{"waits", "count"}, {"wait", "nanoseconds"}});
GPU_SOURCE(gpu_kernel, of_helper, "time that kernels ran on GPUs, of programs with the helper",
           {{"kernels", "count"}, {"gpu_time", "nanoseconds"}});
