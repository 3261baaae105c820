/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kinds of profile about GPUs. Nothing is attached at the start: cuda/gpu_standing.h
 * attaches when a process maps CUDA's driver, and then these kinds are switched on. All of them
 * work with one struct gpu, which the hooks of the first kind start, read and stop.
 */
#include "gpu/gpu.h"

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
	configure(config, "no program was started with the helper library (libprofd-cuda.so)",
	          state);
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

static int gpu_source_start(struct source_state *state)
{
	gpu_start(state->own);
	return 0;
}

static void gpu_source_stop(struct source_state *state)
{
	gpu_stop(state->own);
}

static void gpu_source_read(struct source_state *state)
{
	gpu_read_before_drain(state->own);
}

static int gpu_source_fill(struct half *half, struct source_state *state, struct builder *into,
                           uint64_t *ret_samples)
{
	return gpu_fill(state->own, half, state->kind, into, ret_samples);
}

static void gpu_source_filled(struct source_state *state, uint64_t length_ns)
{
	gpu_filled(state->own, length_ns);
}

static int gpu_source_in_use(struct source_state *state, struct builder *into)
{
	return gpu_in_use(state->own, state->kind, into);
}

#define HELD                                                                                      \
	{                                                                                         \
		{"alloc_objects", "count"}, {"alloc_space", "bytes"}, {"inuse_objects", "count"}, \
		{                                                                                 \
			"inuse_space", "bytes"                                                    \
		}                                                                                 \
	}

#define GPU_SOURCE(kind, words, text, before, ...)                       \
	const struct source source_##kind = {                            \
		.name = #kind,                                           \
		.title = words,                                          \
		.summary = text,                                         \
		.history_weight = 1,                                     \
		.by_probes = true,                                       \
		.fix = "Run a kernel built with CONFIG_UPROBE_EVENTS=y", \
		.configure = before,                                     \
		.attach = gpu_attach,                                    \
		.detach = gpu_detach,                                    \
		.fill = gpu_source_fill,                                 \
		__VA_ARGS__,                                             \
	}

GPU_SOURCE(gpu_memory, "GPU memory", "memory allocated on GPUs, and in use now", of_driver,
           .values = HELD, .by_events = true, .start = gpu_source_start, .stop = gpu_source_stop,
           .read = gpu_source_read, .filled = gpu_source_filled, .in_use = gpu_source_in_use);
GPU_SOURCE(gpu_tensor, "GPU tensors", "memory of frameworks' tensors, allocated and in use now",
           of_driver, .values = HELD, .by_events = true, .in_use = gpu_source_in_use);
GPU_SOURCE(gpu_launch, "GPU launches", "launches of GPU kernels and graphs", of_driver,
           .values = {{"launches", "count"}}, .has_dims = true);
GPU_SOURCE(gpu_copy, "GPU copies", "copies to, from and on GPUs", of_driver,
           .values = {{"copies", "count"}, {"copied", "bytes"}});
GPU_SOURCE(gpu_wait, "GPU waits", "time spent waiting for GPUs", of_driver,
           .values = {{"waits", "count"}, {"wait", "nanoseconds"}});
GPU_SOURCE(gpu_kernel, "GPU kernels",
           "time that kernels ran on GPUs, for programs with the helper library", of_helper,
           .values = {{"kernels", "count"}, {"gpu_time", "nanoseconds"}}, .by_events = true,
           .has_dims = true);
