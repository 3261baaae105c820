/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The part of CUDA's driver and runtime that the stand-ins and programs of this folder use. Names,
 * numbers and layouts are those in the CUDA Toolkit's reference manuals of both interfaces.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	CUDA_SUCCESS = 0,
	CUDA_ERROR_INVALID_VALUE = 1,
	CUDA_ERROR_OUT_OF_MEMORY = 2,
	CUDA_ERROR_NOT_INITIALIZED = 3,
	CUDA_ERROR_INVALID_DEVICE = 101,
	CUDA_ERROR_INVALID_CONTEXT = 201,
	CUDA_ERROR_NOT_FOUND = 500,
};

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef unsigned long long CUmemHandle;
typedef struct context *CUcontext;
typedef struct stream *CUstream;
typedef struct event *CUevent;
typedef struct kernel *CUfunction; /* also CUkernel: a launch takes either */
typedef struct module *CUmodule;   /* also CUlibrary */
typedef struct pool *CUpool;
typedef struct array *CUarray;
typedef struct graph *CUgraph;
typedef struct graph_exec *CUgraphExec;
typedef struct graph_node *CUgraphNode;

enum {
	CU_ARRAY_FORMAT_UNSIGNED_INT8 = 1,
	CU_ARRAY_FORMAT_UNSIGNED_INT16 = 2,
	CU_ARRAY_FORMAT_UNSIGNED_INT32 = 3,
	CU_ARRAY_FORMAT_SIGNED_INT8 = 8,
	CU_ARRAY_FORMAT_SIGNED_INT16 = 9,
	CU_ARRAY_FORMAT_SIGNED_INT32 = 10,
	CU_ARRAY_FORMAT_HALF = 16,
	CU_ARRAY_FORMAT_FLOAT = 32,
};

typedef struct {
	size_t Width, Height;
	int Format;
	unsigned int NumChannels;
} CUDA_ARRAY_DESCRIPTOR;

typedef struct {
	size_t Width, Height, Depth;
	int Format;
	unsigned int NumChannels, Flags;
} CUDA_ARRAY3D_DESCRIPTOR;

enum { CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_UNIFIED };

typedef struct {
	size_t srcXInBytes, srcY;
	int srcMemoryType;
	const void *srcHost;
	CUdeviceptr srcDevice;
	CUarray srcArray;
	size_t srcPitch;
	size_t dstXInBytes, dstY;
	int dstMemoryType;
	void *dstHost;
	CUdeviceptr dstDevice;
	CUarray dstArray;
	size_t dstPitch;
	size_t WidthInBytes, Height;
} CUDA_MEMCPY2D;

typedef struct {
	size_t srcXInBytes, srcY, srcZ, srcLOD;
	int srcMemoryType;
	const void *srcHost;
	CUdeviceptr srcDevice;
	CUarray srcArray;
	void *reserved0;
	size_t srcPitch, srcHeight;
	size_t dstXInBytes, dstY, dstZ, dstLOD;
	int dstMemoryType;
	void *dstHost;
	CUdeviceptr dstDevice;
	CUarray dstArray;
	void *reserved1;
	size_t dstPitch, dstHeight;
	size_t WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D;

typedef struct {
	int type;
	int requestedHandleTypes;
	struct {
		int type; /* 1: a device */
		int id;
	} location;
	void *win32HandleMetaData;
	unsigned char allocFlags[8];
} CUmemAllocationProp;

typedef struct {
	unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ;
	unsigned int sharedMemBytes;
	CUstream hStream;
	void *attrs;
	unsigned int numAttrs;
} CUlaunchConfig;

typedef struct {
	CUfunction func;
	unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ;
	unsigned int sharedMemBytes;
	void **kernelParams;
	void **extra;
	CUfunction kern;
	CUcontext ctx;
} CUDA_KERNEL_NODE_PARAMS;

/* The driver, under the names that the library exports. */
CUresult cuInit(unsigned int flags);
CUresult cuGetProcAddress_v2(const char *name, void **ret, int version, uint64_t flags, int *found);
CUresult cuDeviceGetCount(int *ret_count);
CUcontext standin_primary_handle(CUdevice device); /* before the context is made */
CUresult cuDevicePrimaryCtxRetain(CUcontext *ret, CUdevice device);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device);
CUresult cuDevicePrimaryCtxReset_v2(CUdevice device);
CUresult cuCtxCreate_v2(CUcontext *ret, unsigned int flags, CUdevice device);
CUresult cuCtxDestroy_v2(CUcontext context);
CUresult cuCtxSetCurrent(CUcontext context);
CUresult cuCtxPushCurrent_v2(CUcontext context);
CUresult cuCtxPopCurrent_v2(CUcontext *ret);
CUresult cuCtxSynchronize(void);
CUresult cuMemGetInfo_v2(size_t *ret_free, size_t *ret_total);

CUresult cuMemAlloc_v2(CUdeviceptr *ret, size_t size);
CUresult cuMemAllocPitch_v2(CUdeviceptr *ret, size_t *ret_pitch, size_t width, size_t height,
                            unsigned int element);
CUresult cuMemAllocManaged(CUdeviceptr *ret, size_t size, unsigned int flags);
CUresult cuMemFree_v2(CUdeviceptr at);
CUresult cuMemAllocAsync(CUdeviceptr *ret, size_t size, CUstream stream);
CUresult cuMemAllocAsync_ptsz(CUdeviceptr *ret, size_t size, CUstream stream);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *ret, size_t size, CUpool pool, CUstream stream);
CUresult cuMemFreeAsync(CUdeviceptr at, CUstream stream);
CUresult cuMemFreeAsync_ptsz(CUdeviceptr at, CUstream stream);
CUresult cuMemHostAlloc(void **ret, size_t size, unsigned int flags);
CUresult cuMemAllocHost_v2(void **ret, size_t size);
CUresult cuMemFreeHost(void *at);
CUresult cuMemHostRegister_v2(void *at, size_t size, unsigned int flags);
CUresult cuMemHostUnregister(void *at);
CUresult cuMemCreate(CUmemHandle *ret, size_t size, const CUmemAllocationProp *prop,
                     unsigned long long flags);
CUresult cuMemRelease(CUmemHandle handle);
CUresult cuMemAddressReserve(CUdeviceptr *ret, size_t size, size_t align, CUdeviceptr at,
                             unsigned long long flags);
CUresult cuMemMap(CUdeviceptr at, size_t size, size_t offset, CUmemHandle handle,
                  unsigned long long flags);
CUresult cuMemUnmap(CUdeviceptr at, size_t size);
CUresult cuMemRetainAllocationHandle(CUmemHandle *ret, void *address);
CUresult cuArrayCreate_v2(CUarray *ret, const CUDA_ARRAY_DESCRIPTOR *of);
CUresult cuArray3DCreate_v2(CUarray *ret, const CUDA_ARRAY3D_DESCRIPTOR *of);
CUresult cuArrayDestroy(CUarray array);
CUresult cuMipmappedArrayCreate(CUarray *ret, const CUDA_ARRAY3D_DESCRIPTOR *of,
                                unsigned int levels);
CUresult cuMipmappedArrayDestroy(CUarray array);

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size);
CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr to, const void *from, size_t size);
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size);
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t size);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, CUstream stream);
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream stream);
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream);
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t size);
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream);
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                      CUcontext from_context, size_t size);
CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *copy);
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *copy);
CUresult cuMemsetD8_v2(CUdeviceptr at, unsigned char value, size_t count);
CUresult cuMemsetD16_v2(CUdeviceptr at, unsigned short value, size_t count);
CUresult cuMemsetD32_v2(CUdeviceptr at, unsigned int value, size_t count);
CUresult cuMemsetD32Async(CUdeviceptr at, unsigned int value, size_t count, CUstream stream);
CUresult cuMemsetD2D8_v2(CUdeviceptr at, size_t pitch, unsigned char value, size_t width,
                         size_t height);

CUresult cuModuleLoadData(CUmodule *ret, const void *image);
CUresult cuModuleUnload(CUmodule module);
CUresult cuModuleGetFunction(CUfunction *ret, CUmodule module, const char *name);
CUresult cuLibraryLoadData(CUmodule *ret, const void *image, void *options, void *values,
                           unsigned int count, void *library_options, void *library_values,
                           unsigned int library_count);
CUresult cuLibraryGetKernel(CUfunction *ret, CUmodule library, const char *name);
CUresult cuKernelGetFunction(CUfunction *ret, CUfunction kernel);
CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                        unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                        unsigned int block_z, unsigned int shared, CUstream stream, void **args,
                        void **extra);
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **args,
                          void **extra);
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                   unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                   unsigned int block_z, unsigned int shared, CUstream stream,
                                   void **args);
CUresult cuGraphCreate(CUgraph *ret, unsigned int flags);
CUresult cuGraphAddKernelNode_v2(CUgraphNode *ret, CUgraph graph, const CUgraphNode *after,
                                 size_t after_count, const CUDA_KERNEL_NODE_PARAMS *params);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *ret, CUgraph graph, unsigned long long flags);
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream);
CUresult cuStreamSynchronize(CUstream stream);
CUresult cuStreamSynchronize_ptsz(CUstream stream);
CUresult cuEventSynchronize(CUevent event);

/* Functions of the stand-in only: set how long each waiting call takes from now on, by sleeping or
 * by spinning; get the time that all of them took, measured inside; get their number. */
#pragma GCC visibility push(default)
void fakecuda_waits_take(uint64_t ns, int spins);
uint64_t fakecuda_waited_ns(void);
uint64_t fakecuda_waits(void);
#pragma GCC visibility pop

/* The runtime. */
typedef struct {
	unsigned int x, y, z;
} dim3;

enum { COPY_H2H, COPY_H2D, COPY_D2H, COPY_D2D, COPY_DEFAULT };

int cudaSetDevice(int device);
int cudaDeviceReset(void);
int cudaMalloc(void **ret, size_t size);
int cudaMallocPitch(void **ret, size_t *ret_pitch, size_t width, size_t height);
int cudaMallocManaged(void **ret, size_t size, unsigned int flags);
int cudaMallocAsync(void **ret, size_t size, CUstream stream);
int cudaMallocHost(void **ret, size_t size);
int cudaHostAlloc(void **ret, size_t size, unsigned int flags);
int cudaHostRegister(void *at, size_t size, unsigned int flags);
int cudaHostUnregister(void *at);
int cudaFree(void *at);
int cudaFreeAsync(void *at, CUstream stream);
int cudaFreeHost(void *at);
int cudaMemcpy(void *to, const void *from, size_t size, int kind);
int cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, CUstream stream);
int cudaMemset(void *at, int value, size_t size);
int cudaStreamSynchronize(CUstream stream);
int cudaDeviceSynchronize(void);
int cudaEventSynchronize(CUevent event);
int cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **args, size_t shared,
                     CUstream stream);
int cudaGraphLaunch(CUgraphExec exec, CUstream stream);
/* The functions that the code generated by nvcc for <<<>>> calls. */
void **__cudaRegisterFatBinary(void *image);
void __cudaRegisterFunction(void **binary, const char *host, char *device, const char *name,
                            int threads, void *tid, void *bid, void *block, void *grid, int *size);
int __cudaGetKernel(void **ret_kernel, const void *function);
int __cudaLaunchKernel(void *kernel, dim3 grid, dim3 block, void **args, size_t shared,
                       CUstream stream);

#ifdef __cplusplus
}
#endif
