/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The stand-in for CUDA's runtime. Like the real one it finds every function of the driver by
 * cuGetProcAddress_v2() and calls it. Its compiler flags make all functions start with a push of
 * the frame pointer. With CUDART 13, kernels have handles: __cudaGetKernel().
 */
#include "cuda.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef CUDART
#define CUDART 12
#endif

enum { FUNCTIONS = 4096, DEVICES = 2 };

/* Functions of the driver, by the name to look up. */
#define DRIVER(FUNCTION)                                                                    \
	FUNCTION(cuInit, unsigned int)                                                      \
	FUNCTION(cuDevicePrimaryCtxRetain, CUcontext *, int)                                \
	FUNCTION(cuDevicePrimaryCtxReset, int)                                              \
	FUNCTION(cuCtxSetCurrent, CUcontext)                                                \
	FUNCTION(cuCtxSynchronize, void)                                                    \
	FUNCTION(cuMemAlloc, CUdeviceptr *, size_t)                                         \
	FUNCTION(cuMemAllocPitch, CUdeviceptr *, size_t *, size_t, size_t, unsigned int)    \
	FUNCTION(cuMemAllocManaged, CUdeviceptr *, size_t, unsigned int)                    \
	FUNCTION(cuMemAllocAsync, CUdeviceptr *, size_t, CUstream)                          \
	FUNCTION(cuMemFree, CUdeviceptr)                                                    \
	FUNCTION(cuMemFreeAsync, CUdeviceptr, CUstream)                                     \
	FUNCTION(cuMemHostAlloc, void **, size_t, unsigned int)                             \
	FUNCTION(cuMemFreeHost, void *)                                                     \
	FUNCTION(cuMemHostRegister, void *, size_t, unsigned int)                           \
	FUNCTION(cuMemHostUnregister, void *)                                               \
	FUNCTION(cuMemcpy, CUdeviceptr, CUdeviceptr, size_t)                                \
	FUNCTION(cuMemcpyHtoD, CUdeviceptr, const void *, size_t)                           \
	FUNCTION(cuMemcpyDtoH, void *, CUdeviceptr, size_t)                                 \
	FUNCTION(cuMemcpyDtoD, CUdeviceptr, CUdeviceptr, size_t)                            \
	FUNCTION(cuMemcpyAsync, CUdeviceptr, CUdeviceptr, size_t, CUstream)                 \
	FUNCTION(cuMemcpyHtoDAsync, CUdeviceptr, const void *, size_t, CUstream)            \
	FUNCTION(cuMemcpyDtoHAsync, void *, CUdeviceptr, size_t, CUstream)                  \
	FUNCTION(cuMemcpyDtoDAsync, CUdeviceptr, CUdeviceptr, size_t, CUstream)             \
	FUNCTION(cuMemsetD8, CUdeviceptr, unsigned char, size_t)                            \
	FUNCTION(cuStreamSynchronize, CUstream)                                             \
	FUNCTION(cuEventSynchronize, CUevent)                                               \
	FUNCTION(cuGraphLaunch, CUgraphExec, CUstream)                                      \
	FUNCTION(cuLibraryLoadData, CUmodule *, const void *, void *, void *, unsigned int, \
	         void *, void *, unsigned int)                                              \
	FUNCTION(cuLibraryGetKernel, CUfunction *, CUmodule, const char *)                  \
	FUNCTION(cuKernelGetFunction, CUfunction *, CUfunction)                             \
	FUNCTION(cuLaunchKernel, CUfunction, unsigned int, unsigned int, unsigned int,      \
	         unsigned int, unsigned int, unsigned int, unsigned int, CUstream, void **, \
	         void **)

static struct {
#define FUNCTION(name, ...) CUresult (*name)(__VA_ARGS__);
	DRIVER(FUNCTION)
#undef FUNCTION
} driver;

/* A registered function, and after its first launch also the driver's handle. */
struct registered {
	const void *host;
	const char *name;
	CUmodule library;
	CUfunction kernel, function;
};

static struct registered functions[FUNCTIONS]; /* by address, with gaps */
static CUcontext contexts[DEVICES];
static CUcontext (*primary_handle)(CUdevice device);
static _Thread_local int device;
static _Thread_local CUcontext current;

/* Loads the driver on first use, as the real one does; the driver is not mapped before. */
static void resolve(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
	CUresult (*get)(const char *, void **, int, uint64_t, int *) = NULL;
	int found = 0;

	if (library)
		*(void **)&get = dlsym(library, "cuGetProcAddress_v2");
	if (!get)
		return;
#define FUNCTION(name, ...) get(#name, (void **)&driver.name, 12000, 0, &found);
	DRIVER(FUNCTION)
#undef FUNCTION
	*(void **)&primary_handle = dlsym(library, "standin_primary_handle");
}

/* Makes the handle of the device's context current and then, if needed, the context: in this order,
 * as the real one does. */
static int ready(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int result;

	pthread_once(&once, resolve);
	if (!driver.cuInit)
		return 35; /* cudaErrorInsufficientDriver */
	driver.cuInit(0);
	if (current == primary_handle(device) && contexts[device])
		return 0;
	current = primary_handle(device);
	result = driver.cuCtxSetCurrent(current);
	if (!contexts[device])
		driver.cuDevicePrimaryCtxRetain(&contexts[device], device);
	return result;
}

int cudaSetDevice(int to)
{
	if (to < 0 || to >= DEVICES)
		return 101;
	device = to;
	return ready();
}

/* The real one retains the context again at its next use. The context is the same one, so it is
 * still current. */
int cudaDeviceReset(void)
{
	int result = ready();

	contexts[device] = NULL;
	return result ? result : driver.cuDevicePrimaryCtxReset(device);
}

int cudaMalloc(void **ret, size_t size)
{
	CUdeviceptr at = 0;
	int result = ready();

	if (!result)
		result = driver.cuMemAlloc(&at, size);
	*ret = (void *)(uintptr_t)at;
	return result;
}

int cudaMallocPitch(void **ret, size_t *ret_pitch, size_t width, size_t height)
{
	CUdeviceptr at = 0;
	int result = ready();

	if (!result)
		result = driver.cuMemAllocPitch(&at, ret_pitch, width, height, 4);
	*ret = (void *)(uintptr_t)at;
	return result;
}

int cudaMallocManaged(void **ret, size_t size, unsigned int flags)
{
	CUdeviceptr at = 0;
	int result = ready();

	if (!result)
		result = driver.cuMemAllocManaged(&at, size, flags);
	*ret = (void *)(uintptr_t)at;
	return result;
}

int cudaMallocAsync(void **ret, size_t size, CUstream stream)
{
	CUdeviceptr at = 0;
	int result = ready();

	if (!result)
		result = driver.cuMemAllocAsync(&at, size, stream);
	*ret = (void *)(uintptr_t)at;
	return result;
}

int cudaMallocHost(void **ret, size_t size)
{
	int result = ready();

	return result ? result : driver.cuMemHostAlloc(ret, size, 0);
}

int cudaHostAlloc(void **ret, size_t size, unsigned int flags)
{
	int result = ready();

	return result ? result : driver.cuMemHostAlloc(ret, size, flags);
}

int cudaHostRegister(void *at, size_t size, unsigned int flags)
{
	int result = ready();

	return result ? result : driver.cuMemHostRegister(at, size, flags);
}

int cudaHostUnregister(void *at)
{
	int result = ready();

	return result ? result : driver.cuMemHostUnregister(at);
}

int cudaFree(void *at)
{
	int result = ready();

	/* Programs call cudaFree(NULL) to start the runtime. */
	return result || !at ? result : driver.cuMemFree((uintptr_t)at);
}

int cudaFreeAsync(void *at, CUstream stream)
{
	int result = ready();

	return result ? result : driver.cuMemFreeAsync((uintptr_t)at, stream);
}

int cudaFreeHost(void *at)
{
	int result = ready();

	return result ? result : driver.cuMemFreeHost(at);
}

int cudaMemcpy(void *to, const void *from, size_t size, int kind)
{
	int result = ready();

	if (result)
		return result;
	switch (kind) {
	case COPY_H2D:
		return driver.cuMemcpyHtoD((uintptr_t)to, from, size);
	case COPY_D2H:
		return driver.cuMemcpyDtoH(to, (uintptr_t)from, size);
	case COPY_D2D:
		return driver.cuMemcpyDtoD((uintptr_t)to, (uintptr_t)from, size);
	default:
		return driver.cuMemcpy((uintptr_t)to, (uintptr_t)from, size);
	}
}

int cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, CUstream stream)
{
	int result = ready();

	if (result)
		return result;
	switch (kind) {
	case COPY_H2D:
		return driver.cuMemcpyHtoDAsync((uintptr_t)to, from, size, stream);
	case COPY_D2H:
		return driver.cuMemcpyDtoHAsync(to, (uintptr_t)from, size, stream);
	case COPY_D2D:
		return driver.cuMemcpyDtoDAsync((uintptr_t)to, (uintptr_t)from, size, stream);
	default:
		return driver.cuMemcpyAsync((uintptr_t)to, (uintptr_t)from, size, stream);
	}
}

int cudaMemset(void *at, int value, size_t size)
{
	int result = ready();

	return result ? result : driver.cuMemsetD8((uintptr_t)at, (unsigned char)value, size);
}

int cudaStreamSynchronize(CUstream stream)
{
	int result = ready();

	return result ? result : driver.cuStreamSynchronize(stream);
}

int cudaDeviceSynchronize(void)
{
	int result = ready();

	return result ? result : driver.cuCtxSynchronize();
}

int cudaEventSynchronize(CUevent event)
{
	int result = ready();

	return result ? result : driver.cuEventSynchronize(event);
}

int cudaGraphLaunch(CUgraphExec exec, CUstream stream)
{
	int result = ready();

	return result ? result : driver.cuGraphLaunch(exec, stream);
}

/* ---- kernels */

void **__cudaRegisterFatBinary(void *image)
{
	CUmodule *library = calloc(1, sizeof(CUmodule));

	if (!ready())
		driver.cuLibraryLoadData(library, image, NULL, NULL, 0, NULL, NULL, 0);
	return (void **)library;
}

/* The slot of a function, or the free one for it. */
static struct registered *slot(const void *host)
{
	size_t i = (uintptr_t)host / 16 % FUNCTIONS;

	while (functions[i].host && functions[i].host != host)
		i = (i + 1) % FUNCTIONS;
	return &functions[i];
}

void __cudaRegisterFunction(void **binary, const char *host, char *on_device, const char *name,
                            int threads, void *tid, void *bid, void *block, void *grid, int *size)
{
	(void)on_device;
	(void)threads;
	(void)tid;
	(void)bid;
	(void)block;
	(void)grid;
	(void)size;
	*slot(host) =
		(struct registered){.host = host, .name = name, .library = *(CUmodule *)binary};
}

static int load(struct registered *of)
{
	if (!of->host)
		return 98; /* cudaErrorInvalidDeviceFunction */
	if (!of->kernel)
		driver.cuLibraryGetKernel(&of->kernel, of->library, of->name);
	if (CUDART >= 13 && !of->function)
		driver.cuKernelGetFunction(&of->function, of->kernel);
	return 0;
}

/* The runtime's own handles are addresses of slots, which are never addresses of functions. */
static struct registered *registered_of(const void *function)
{
	uintptr_t at = (uintptr_t)function, first = (uintptr_t)functions;

	if (at >= first && at < first + sizeof(functions))
		return &functions[(at - first) / sizeof(functions[0])];
	return slot(function);
}

int cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **args, size_t shared,
                     CUstream stream)
{
	struct registered *of;
	int result = ready();

	if (result)
		return result;
	of = registered_of(function);
	result = load(of);
	if (result)
		return result;
	return driver.cuLaunchKernel(CUDART >= 13 ? of->function : of->kernel, grid.x, grid.y,
	                             grid.z, block.x, block.y, block.z, (unsigned int)shared,
	                             stream, args, NULL);
}

int __cudaGetKernel(void **ret_kernel, const void *function)
{
	int result = ready();

	*ret_kernel = slot(function);
	return result ? result : load(slot(function));
}

/* Jumps to cudaLaunchKernel, as the one of versions 12.9 and 13 does. */
#ifdef __x86_64__
__asm__(".text\n.globl __cudaLaunchKernel\n.type __cudaLaunchKernel, "
        "@function\n__cudaLaunchKernel:\n"
        "	push %rbp\n	mov %rsp, %rbp\n	pop %rbp\n	jmp cudaLaunchKernel@PLT\n"
        ".size __cudaLaunchKernel, . - __cudaLaunchKernel\n");
#else
__asm__(".text\n.globl __cudaLaunchKernel\n.type __cudaLaunchKernel, "
        "%function\n__cudaLaunchKernel:\n"
        "	b cudaLaunchKernel\n.size __cudaLaunchKernel, . - __cudaLaunchKernel\n");
#endif
