/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The stand-in's physical memory and its addresses. Memory exists as long as there is a reference
 * to its handle or a mapping of it.
 */
#include "driver.h"

#include <pthread.h>

enum { HUGE_GRAIN = 2 << 20, MOST = 4096 };

struct physical {
	CUmemHandle handle; /* 0: free */
	int references, maps;
};

struct map {
	CUdeviceptr at;
	size_t size; /* 0: free */
	struct physical *of;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct physical memory[MOST];
static struct map maps[MOST];

static struct physical *physical_of(CUmemHandle handle)
{
	for (size_t i = 0; i < MOST; i++)
		if (memory[i].handle == handle)
			return &memory[i];
	return NULL;
}

/* Frees the memory after its last reference and mapping. */
static void look_at(struct physical *of)
{
	if (of->references || of->maps)
		return;
	blocks_give(FAMILY_PHYSICAL, of->handle);
	of->handle = 0;
}

CUresult fake_mem_create(CUmemHandle *ret, size_t size, const CUmemAllocationProp *prop,
                         unsigned long long flags)
{
	struct physical *of;

	(void)flags;
	if (!size || !prop || prop->location.id < 0 || prop->location.id >= DEVICES ||
	    size % HUGE_GRAIN)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	of = physical_of(0);
	if (of)
		of->handle = blocks_take(FAMILY_PHYSICAL, NULL, prop->location.id, size);
	if (of && of->handle) {
		of->references = 1;
		*ret = of->handle;
	}
	pthread_mutex_unlock(&lock);
	return of && of->references ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult fake_mem_release(CUmemHandle handle)
{
	struct physical *of;
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	pthread_mutex_lock(&lock);
	of = handle ? physical_of(handle) : NULL;
	if (of && of->references) {
		of->references--;
		look_at(of);
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

CUresult fake_mem_address_reserve(CUdeviceptr *ret, size_t size, size_t align, CUdeviceptr at,
                                  unsigned long long flags)
{
	static uint64_t next = 0x7d0000000000;

	(void)align;
	(void)at;
	(void)flags;
	*ret = __atomic_fetch_add(&next, size, __ATOMIC_RELAXED);
	return CUDA_SUCCESS;
}

CUresult fake_mem_address_free(CUdeviceptr at, size_t size)
{
	return at && size ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult fake_mem_map(CUdeviceptr at, size_t size, size_t offset, CUmemHandle handle,
                      unsigned long long flags)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;
	struct physical *of;
	size_t i = 0;

	(void)flags;
	pthread_mutex_lock(&lock);
	of = handle ? physical_of(handle) : NULL;
	while (i < MOST && maps[i].size)
		i++;
	if (at && size && !offset && of && i < MOST) {
		maps[i] = (struct map){at, size, of};
		of->maps++;
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

CUresult fake_mem_unmap(CUdeviceptr at, size_t size)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < MOST; i++) {
		if (!maps[i].size || maps[i].at < at || maps[i].at + maps[i].size > at + size)
			continue;
		maps[i].size = 0;
		maps[i].of->maps--;
		look_at(maps[i].of);
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

CUresult fake_mem_retain_handle(CUmemHandle *ret, const void *address)
{
	CUdeviceptr at = (uintptr_t)address;
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < MOST && result; i++) {
		if (at < maps[i].at || at >= maps[i].at + maps[i].size)
			continue;
		maps[i].of->references++;
		*ret = maps[i].of->handle;
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

CUresult fake_mem_set_access(CUdeviceptr at, size_t size, const void *access, size_t count)
{
	return at && size && access && count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
