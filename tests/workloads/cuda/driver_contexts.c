/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The stand-in's devices and contexts.
 */
#include "driver.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STACK = 16 };

struct context {
	int device;
	int references; /* to a primary context */
};

static struct context primary[DEVICES];
static _Thread_local struct context *stack[STACK];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for references */
static _Thread_local int depth;                          /* stack[depth] is the current context */
static bool is_up;

CUresult fake_init(unsigned int flags)
{
	(void)flags;
	is_up = true;
	return CUDA_SUCCESS;
}

CUresult fake_driver_get_version(int *ret_version)
{
	*ret_version = 12020;
	return CUDA_SUCCESS;
}

CUcontext current_context(void)
{
	return stack[depth];
}

int current_device(void)
{
	return stack[depth] ? stack[depth]->device : -1;
}

static CUresult check(int device)
{
	if (!is_up)
		return CUDA_ERROR_NOT_INITIALIZED;
	return device >= 0 && device < DEVICES ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult fake_device_get_count(int *ret_count)
{
	*ret_count = DEVICES;
	return check(0);
}

CUresult fake_device_get(CUdevice *ret_device, int ordinal)
{
	*ret_device = ordinal;
	return check(ordinal);
}

CUresult fake_device_get_name(char *ret_name, int size, CUdevice device)
{
	snprintf(ret_name, (size_t)size, "Stand-in %d", device);
	return check(device);
}

CUresult fake_device_get_uuid(unsigned char *ret_uuid, CUdevice device)
{
	memset(ret_uuid, 0x11 * (device + 1), 16);
	return check(device);
}

CUresult fake_device_total_mem(size_t *ret_size, CUdevice device)
{
	*ret_size = blocks_size();
	return check(device);
}

/* The real driver hands out tables of functions that have no names of their own. */
__attribute__((visibility("default"))) CUcontext standin_primary_handle(CUdevice device)
{
	return &primary[device];
}

CUresult fake_primary_retain(CUcontext *ret, CUdevice device)
{
	CUresult result = check(device);

	if (result)
		return result;
	pthread_mutex_lock(&lock);
	primary[device].device = device;
	primary[device].references++;
	pthread_mutex_unlock(&lock);
	*ret = &primary[device];
	return CUDA_SUCCESS;
}

/* The context keeps its handle, and is used again as if it were new. */
CUresult fake_primary_reset(CUdevice device)
{
	CUresult result = check(device);

	if (!result)
		blocks_end(&primary[device]);
	return result;
}

CUresult fake_primary_release(CUdevice device)
{
	CUresult result = check(device);
	bool was_last = false;

	if (result)
		return result;
	pthread_mutex_lock(&lock);
	if (primary[device].references)
		was_last = !--primary[device].references;
	else
		result = CUDA_ERROR_INVALID_CONTEXT;
	pthread_mutex_unlock(&lock);
	return was_last ? fake_primary_reset(device) : result;
}

CUresult fake_context_push(CUcontext context)
{
	if (depth + 1 >= STACK)
		return CUDA_ERROR_INVALID_VALUE;
	stack[++depth] = context;
	return CUDA_SUCCESS;
}

/* Also makes the new context current. */
CUresult fake_context_create(CUcontext *ret, unsigned int flags, CUdevice device)
{
	CUresult result = check(device);

	(void)flags;
	if (result)
		return result;
	*ret = calloc(1, sizeof(**ret));
	(*ret)->device = device;
	return fake_context_push(*ret);
}

CUresult fake_context_create_v3(CUcontext *ret, void *params, int count, unsigned int flags,
                                CUdevice device)
{
	(void)params;
	(void)count;
	return fake_context_create(ret, flags, device);
}

CUresult fake_context_create_v4(CUcontext *ret, void *params, unsigned int flags, CUdevice device)
{
	(void)params;
	return fake_context_create(ret, flags, device);
}

CUresult fake_context_pop(CUcontext *ret)
{
	if (!depth)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (ret)
		*ret = stack[depth];
	depth--;
	return CUDA_SUCCESS;
}

CUresult fake_context_destroy(CUcontext context)
{
	if (!context)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (stack[depth] == context && depth)
		depth--;
	blocks_end(context);
	free(context);
	return CUDA_SUCCESS;
}

CUresult fake_context_set(CUcontext context)
{
	stack[depth] = context;
	return CUDA_SUCCESS;
}

CUresult fake_context_get(CUcontext *ret)
{
	*ret = stack[depth];
	return CUDA_SUCCESS;
}

CUresult fake_context_device(CUdevice *ret_device)
{
	*ret_device = current_device();
	return *ret_device < 0 ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}
