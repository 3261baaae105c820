/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The functions from which gpu_truth allocates.
 */
#include "gpu_families.h"

#include "cuda.h"
#include "told.h"

enum { HUGE_PAGE = 2 << 20 };

bool by_runtime;
_Thread_local int device;

static int take(uint64_t *ret_at, uint64_t size)
{
	void *at = NULL;
	CUdeviceptr pointer = 0;
	int result = by_runtime ? cudaMalloc(&at, size) : cuMemAlloc_v2(&pointer, size);

	*ret_at = by_runtime ? (uintptr_t)at : pointer;
	return result;
}

int give(uint64_t at)
{
	return by_runtime ? cudaFree((void *)(uintptr_t)at) : cuMemFree_v2(at);
}

static int give_host(uint64_t at)
{
	void *pointer = (void *)(uintptr_t)at;

	return by_runtime ? cudaFreeHost(pointer) : cuMemFreeHost(pointer);
}

#define PLAIN_SITE(linkage, name)                                                   \
	linkage SITE int name(uint64_t *ret_at, uint64_t size, uint64_t *ret_bytes) \
	{                                                                           \
		*ret_bytes = size;                                                  \
		return take(ret_at, size);                                          \
	}

PLAIN_SITE(static, site_six)
PLAIN_SITE(static, site_three)
PLAIN_SITE(static, site_one)
PLAIN_SITE(static, site_peak)
PLAIN_SITE(static, site_churn)
PLAIN_SITE(, wants_too_much)

static SITE int by_pitch(uint64_t *ret_at, uint64_t size, uint64_t *ret_bytes)
{
	size_t pitch = 0, width = 1000, height = size / width + 1;
	CUdeviceptr pointer = 0;
	void *at = NULL;
	int result = by_runtime ? cudaMallocPitch(&at, &pitch, width, height)
	                        : cuMemAllocPitch_v2(&pointer, &pitch, width, height, 4);

	*ret_at = by_runtime ? (uintptr_t)at : pointer;
	*ret_bytes = pitch * height;
	return result;
}

static SITE int by_managed(uint64_t *ret_at, uint64_t size, uint64_t *ret_bytes)
{
	CUdeviceptr pointer = 0;
	void *at = NULL;
	int result =
		by_runtime ? cudaMallocManaged(&at, size, 1) : cuMemAllocManaged(&pointer, size, 1);

	*ret_at = by_runtime ? (uintptr_t)at : pointer;
	*ret_bytes = size;
	return result;
}

static SITE int by_async(uint64_t *ret_at, uint64_t size, uint64_t *ret_bytes)
{
	CUdeviceptr pointer = 0;
	void *at = NULL;
	int result = by_runtime ? cudaMallocAsync(&at, size, NULL)
	                        : cuMemAllocAsync(&pointer, size, NULL);

	*ret_at = by_runtime ? (uintptr_t)at : pointer;
	*ret_bytes = size;
	return result;
}

static int give_async(uint64_t at)
{
	return by_runtime ? cudaFreeAsync((void *)(uintptr_t)at, NULL) : cuMemFreeAsync(at, NULL);
}

static SITE int by_async_ptsz(uint64_t *ret_at, uint64_t size, uint64_t *ret_bytes)
{
	CUdeviceptr pointer = 0;
	int result = cuMemAllocAsync_ptsz(&pointer, size, NULL);

	*ret_at = pointer;
	*ret_bytes = size;
	return result;
}

static int give_async_ptsz(uint64_t at)
{
	return cuMemFreeAsync_ptsz(at, NULL);
}

static SITE int by_pool(uint64_t *ret_at, uint64_t size, uint64_t *ret_bytes)
{
	CUdeviceptr pointer = 0;
	int result = cuMemAllocFromPoolAsync(&pointer, size, NULL, NULL);

	*ret_at = pointer;
	*ret_bytes = size;
	return result;
}

static SITE int by_host_alloc(uint64_t *ret_at, uint64_t size, uint64_t *ret_bytes)
{
	void *at = NULL;
	int result = by_runtime ? cudaMallocHost(&at, size) : cuMemHostAlloc(&at, size, 0);

	*ret_at = (uintptr_t)at;
	*ret_bytes = size;
	return result;
}

static SITE int by_alloc_host(uint64_t *ret_at, uint64_t size, uint64_t *ret_bytes)
{
	void *at = NULL;
	int result = by_runtime ? cudaHostAlloc(&at, size, 1) : cuMemAllocHost_v2(&at, size);

	*ret_at = (uintptr_t)at;
	*ret_bytes = size;
	return result;
}

static SITE int by_register(uint64_t *ret_at, uint64_t size, uint64_t *ret_bytes)
{
	void *at = aligned_alloc(4096, (size + 4095) / 4096 * 4096);

	*ret_at = (uintptr_t)at;
	*ret_bytes = size;
	return by_runtime ? cudaHostRegister(at, size, 0) : cuMemHostRegister_v2(at, size, 0);
}

static int give_registered(uint64_t at)
{
	void *pointer = (void *)(uintptr_t)at;
	int result = by_runtime ? cudaHostUnregister(pointer) : cuMemHostUnregister(pointer);

	free(pointer);
	return result;
}

static SITE int by_create(uint64_t *ret_at, uint64_t size, uint64_t *ret_bytes)
{
	const CUmemAllocationProp prop = {.type = 1, .location = {1, device}};

	*ret_bytes = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	return cuMemCreate((CUmemHandle *)ret_at, *ret_bytes, &prop, 0);
}

static int give_created(uint64_t at)
{
	return cuMemRelease(at);
}

static SITE int by_array(uint64_t *ret_at, uint64_t size, uint64_t *ret_bytes)
{
	const CUDA_ARRAY_DESCRIPTOR of = {size / 400 + 1, 100, CU_ARRAY_FORMAT_HALF, 2};
	CUarray array = NULL;
	int result = cuArrayCreate_v2(&array, &of);

	*ret_at = (uintptr_t)array;
	*ret_bytes = of.Width * of.Height * 4;
	return result;
}

static SITE int by_array3d(uint64_t *ret_at, uint64_t size, uint64_t *ret_bytes)
{
	const CUDA_ARRAY3D_DESCRIPTOR of = {size / 1600 + 1, 10, 10, CU_ARRAY_FORMAT_FLOAT, 4, 0};
	CUarray array = NULL;
	int result = cuArray3DCreate_v2(&array, &of);

	*ret_at = (uintptr_t)array;
	*ret_bytes = of.Width * of.Height * of.Depth * 16;
	return result;
}

static int give_array(uint64_t at)
{
	return cuArrayDestroy((CUarray)(uintptr_t)at);
}

static SITE int by_mipmaps(uint64_t *ret_at, uint64_t size, uint64_t *ret_bytes)
{
	const CUDA_ARRAY3D_DESCRIPTOR of = {64, 64, 0, CU_ARRAY_FORMAT_UNSIGNED_INT8, 1, 0};
	CUarray array = NULL;
	int result = cuMipmappedArrayCreate(&array, &of, 3);

	(void)size;
	*ret_at = (uintptr_t)array;
	*ret_bytes = 64 * 64 + 32 * 32 + 16 * 16;
	return result;
}

static int give_mipmaps(uint64_t at)
{
	return cuMipmappedArrayDestroy((CUarray)(uintptr_t)at);
}

const struct family families[FAMILIES] = {
	{"site_six", false, site_six, give},
	{"site_three", false, site_three, give},
	{"site_one", false, site_one, give},
	{"site_peak", false, site_peak, give},
	{"site_churn", false, site_churn, give},
	{"by_pitch", false, by_pitch, give},
	{"by_managed", false, by_managed, give},
	{"by_async", false, by_async, give_async},
	{"by_host_alloc", true, by_host_alloc, give_host},
	{"by_alloc_host", true, by_alloc_host, give_host},
	{"by_register", true, by_register, give_registered},
	{"by_async_ptsz", false, by_async_ptsz, give_async_ptsz},
	{"by_pool", false, by_pool, give_async},
	{"by_create", false, by_create, give_created},
	{"by_array", false, by_array, give_array},
	{"by_array3d", false, by_array3d, give_array},
	{"by_mipmaps", false, by_mipmaps, give_mipmaps},
};
