/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The stand-in's copies and launches, which take no time, and the calls that wait, which take a
 * configured time.
 */
#include "driver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct kernel {
	char *name;
};

struct graph_exec {
	CUgraph graph;
};

static uint64_t wait_ns = UINT64_MAX, waited_ns, waits;
static int wait_spins;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void fakecuda_waits_take(uint64_t ns, int spins)
{
	wait_ns = ns;
	wait_spins = spins;
}

uint64_t fakecuda_waited_ns(void)
{
	return __atomic_load_n(&waited_ns, __ATOMIC_RELAXED);
}

uint64_t fakecuda_waits(void)
{
	return __atomic_load_n(&waits, __ATOMIC_RELAXED);
}

static uint64_t wait_takes(void)
{
	const char *told = getenv("FAKECUDA_WAIT_NS");

	if (wait_ns == UINT64_MAX)
		wait_ns = told ? strtoull(told, NULL, 0) : 0;
	return wait_ns;
}

static CUresult wait_until(uint64_t end)
{
	const struct timespec at = {(time_t)(end / 1000000000), (long)(end % 1000000000)};

	while (wait_spins && now_ns() < end)
		;
	while (!wait_spins && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
	return CUDA_SUCCESS;
}

CUresult fake_wait(void *of)
{
	uint64_t start = now_ns(), takes = wait_takes();

	(void)of;
	if (takes)
		wait_until(start + takes);
	__atomic_fetch_add(&waited_ns, now_ns() - start, __ATOMIC_RELAXED);
	__atomic_fetch_add(&waits, 1, __ATOMIC_RELAXED);
	return CUDA_SUCCESS;
}

CUresult fake_copy(uint64_t to, uint64_t from, size_t size)
{
	(void)size;
	return to && from ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult fake_copy_blocks(uint64_t to, uint64_t from, size_t size)
{
	CUresult result = fake_copy(to, from, size);

	return result ? result : fake_wait(NULL);
}

CUresult fake_copy_peer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                        CUcontext from_context, size_t size)
{
	(void)size;
	return to && to_context && from && from_context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult fake_copy_struct(const void *copy)
{
	return copy ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult fake_set(CUdeviceptr at, unsigned int value, size_t count)
{
	(void)value;
	(void)count;
	return at ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult fake_set_2d(CUdeviceptr at, size_t pitch, unsigned char value, size_t width, size_t height)
{
	(void)value;
	return at && pitch >= width && height ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult fake_module_load(CUmodule *ret, const void *image)
{
	if (!image)
		return CUDA_ERROR_INVALID_VALUE;
	*ret = malloc(64);
	return CUDA_SUCCESS;
}

CUresult fake_module_unload(CUmodule module)
{
	free(module);
	return CUDA_SUCCESS;
}

CUresult fake_module_get_function(CUfunction *ret, CUmodule module, const char *name)
{
	if (!module || !name || !*name)
		return CUDA_ERROR_NOT_FOUND;
	*ret = malloc(sizeof(**ret));
	(*ret)->name = strdup(name);
	return CUDA_SUCCESS;
}

/* Makes another handle of the same kernel. */
CUresult fake_kernel_get_function(CUfunction *ret, CUfunction kernel)
{
	*ret = malloc(sizeof(**ret));
	(*ret)->name = kernel->name;
	return CUDA_SUCCESS;
}

CUresult fake_launch(CUfunction function)
{
	return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult fake_launch_config(const CUlaunchConfig *config, CUfunction function)
{
	return config && function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult fake_object_create(void **ret, unsigned int flags)
{
	(void)flags;
	*ret = malloc(64);
	return CUDA_SUCCESS;
}

CUresult fake_graph_create(CUgraph *ret, unsigned int flags)
{
	return fake_object_create((void **)ret, flags);
}

CUresult fake_graph_add(CUgraphNode *ret, CUgraph graph, const CUgraphNode *after,
                        size_t after_count, const CUDA_KERNEL_NODE_PARAMS *params)
{
	(void)after;
	(void)after_count;
	if (!graph || !params)
		return CUDA_ERROR_INVALID_VALUE;
	return fake_object_create((void **)ret, 0);
}

CUresult fake_graph_instantiate(CUgraphExec *ret, CUgraph graph, unsigned long long flags)
{
	(void)flags;
	*ret = malloc(sizeof(**ret));
	(*ret)->graph = graph;
	return CUDA_SUCCESS;
}

CUresult fake_graph_launch(CUgraphExec exec, CUstream stream)
{
	(void)stream;
	return exec ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult fake_graph_exec_destroy(CUgraphExec exec)
{
	free(exec);
	return CUDA_SUCCESS;
}
