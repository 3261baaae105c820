/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The functions of the stand-in that allocate and free.
 */
#include "driver.h"

#include <pthread.h>

enum { PITCH = 512 };

/* Allocates on the thread's device, in this context or in none. */
static CUresult take(enum family family, CUcontext context, uint64_t size, uint64_t *ret)
{
	uint64_t at;

	if (current_device() < 0)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!size || !ret)
		return CUDA_ERROR_INVALID_VALUE;
	at = blocks_take(family, context, current_device(), size);
	if (!at)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*ret = at;
	return CUDA_SUCCESS;
}

static CUresult give(enum family family, uint64_t at)
{
	return blocks_give(family, at) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult take_device(CUcontext context, uint64_t size, CUdeviceptr *ret)
{
	uint64_t at = 0;
	CUresult result = take(FAMILY_DEVICE, context, size, &at);

	if (!result)
		*ret = at;
	return result;
}

CUresult fake_mem_get_info(size_t *ret_free, size_t *ret_total)
{
	if (current_device() < 0)
		return CUDA_ERROR_INVALID_CONTEXT;
	*ret_total = blocks_size();
	*ret_free = *ret_total - blocks_used(current_device());
	return CUDA_SUCCESS;
}

CUresult fake_mem_alloc(CUdeviceptr *ret, size_t size)
{
	return take_device(current_context(), size, ret);
}

CUresult fake_mem_alloc_pitch(CUdeviceptr *ret, size_t *ret_pitch, size_t width, size_t height,
                              unsigned int element)
{
	size_t pitch = (width + PITCH - 1) / PITCH * PITCH;
	CUresult result = take_device(current_context(), pitch * height, ret);

	(void)element;
	if (!result)
		*ret_pitch = pitch;
	return result;
}

CUresult fake_mem_alloc_managed(CUdeviceptr *ret, size_t size, unsigned int flags)
{
	(void)flags;
	return take_device(current_context(), size, ret);
}

CUresult fake_mem_free(CUdeviceptr at)
{
	return at ? give(FAMILY_DEVICE, at) : CUDA_SUCCESS;
}

CUresult fake_mem_alloc_async(CUdeviceptr *ret, size_t size, CUstream stream)
{
	(void)stream;
	return take_device(NULL, size, ret);
}

CUresult fake_mem_alloc_from_pool(CUdeviceptr *ret, size_t size, CUpool pool, CUstream stream)
{
	(void)pool;
	(void)stream;
	return take_device(NULL, size, ret);
}

CUresult fake_mem_free_async(CUdeviceptr at, CUstream stream)
{
	(void)stream;
	return fake_mem_free(at);
}

CUresult fake_mem_pool_create(CUpool *ret, const void *props)
{
	static char pool;

	(void)props;
	*ret = (CUpool)&pool;
	return CUDA_SUCCESS;
}

CUresult fake_mem_pool_destroy(CUpool pool)
{
	return pool ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult fake_default_pool(CUpool *ret, CUdevice device)
{
	(void)device;
	return fake_mem_pool_create(ret, NULL);
}

static CUresult take_host(void **ret, size_t size)
{
	uint64_t at = 0;
	CUresult result = take(FAMILY_HOST, current_context(), size, &at);

	if (!result)
		*ret = (void *)(uintptr_t)at;
	return result;
}

CUresult fake_mem_host_alloc(void **ret, size_t size, unsigned int flags)
{
	(void)flags;
	return take_host(ret, size);
}

CUresult fake_mem_alloc_host(void **ret, size_t size)
{
	return take_host(ret, size);
}

CUresult fake_mem_free_host(void *at)
{
	return give(FAMILY_HOST, (uintptr_t)at);
}

CUresult fake_mem_host_register(void *at, size_t size, unsigned int flags)
{
	(void)flags;
	if (!at || !size)
		return CUDA_ERROR_INVALID_VALUE;
	return blocks_register(FAMILY_REGISTERED, current_context(), (uintptr_t)at, size)
	               ? CUDA_SUCCESS
	               : CUDA_ERROR_INVALID_VALUE;
}

CUresult fake_mem_host_unregister(void *at)
{
	return give(FAMILY_REGISTERED, (uintptr_t)at);
}

/* ---- arrays */

static uint64_t element(int format, unsigned int channels)
{
	switch (format) {
	case CU_ARRAY_FORMAT_UNSIGNED_INT8:
	case CU_ARRAY_FORMAT_SIGNED_INT8:
		return channels;
	case CU_ARRAY_FORMAT_UNSIGNED_INT16:
	case CU_ARRAY_FORMAT_SIGNED_INT16:
	case CU_ARRAY_FORMAT_HALF:
		return 2 * channels;
	default:
		return 4 * channels;
	}
}

static uint64_t at_least_one(uint64_t number)
{
	return number ? number : 1;
}

static CUresult take_array(CUarray *ret, uint64_t size)
{
	uint64_t at = 0;
	CUresult result = take(FAMILY_ARRAY, current_context(), size, &at);

	if (!result)
		*ret = (CUarray)(uintptr_t)at;
	return result;
}

CUresult fake_array_create(CUarray *ret, const CUDA_ARRAY_DESCRIPTOR *of)
{
	return take_array(ret, of->Width * at_least_one(of->Height) *
	                               element(of->Format, of->NumChannels));
}

CUresult fake_mipmaps_create(CUarray *ret, const CUDA_ARRAY3D_DESCRIPTOR *of, unsigned int levels)
{
	uint64_t size = 0;

	for (unsigned int i = 0; i < levels; i++)
		size += at_least_one(of->Width >> i) * at_least_one(of->Height >> i) *
		        at_least_one(of->Depth >> i);
	return take_array(ret, size * element(of->Format, of->NumChannels));
}

CUresult fake_array3d_create(CUarray *ret, const CUDA_ARRAY3D_DESCRIPTOR *of)
{
	return fake_mipmaps_create(ret, of, 1);
}

CUresult fake_array_destroy(CUarray array)
{
	return give(FAMILY_ARRAY, (uintptr_t)array);
}
