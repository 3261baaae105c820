/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The functions of CUDA's driver and runtime, of PyTorch and of XLA that are probed, written once:
 * what each does with which argument (bpf/gpu.h). No state. Sources: cuda.h, cudaTypedefs.h and
 * cuda_runtime_api.h of CUDA 12.9 and 13.5; c10/core/CPUAllocator.h and Allocator.h;
 * xla/tsl/framework/bfc_allocator.h and allocator.h, stream_executor's
 * cuda/cuda_malloc_async_allocator.h.
 *
 * Symbols of CUDA are those that the libraries export; each version of a function has its own,
 * because arguments of one name have changed between versions. Variants for per-thread streams have
 * the suffix _ptsz or _ptds at the end, and the same arguments. Not in the list:
 *
 *   cuMemAlloc, cuMemFree, cuMemcpyHtoD ... without _v2: of CUDA before 3.2, with addresses and
 *                      sizes of 32 bits;
 *   cuMemPrefetch*:    they move only what is not there yet, an unknown amount;
 *   cuMemcpy3DBatch*, cuMemcpy3DWithAttributes*, cuLaunchCooperativeKernelMultiDevice: a list of
 *                      structures in one call;
 *   cuIpcOpen*, cuMulticastCreate: memory that another process has, or none;
 *   cuMemExportToShareableHandle: which process has the result, and when it is closed, is not
 *                      known;
 *   cuMemAddressReserve, cuMemMapArrayAsync: addresses, not memory, which cuMemCreate makes;
 *   cuMemPoolDestroy:  what was allocated from the pool stays until it is freed itself;
 *   cuCtxAttach, cuCtxDetach: of CUDA before 4.0, and no program calls them.
 */
#pragma once

#include "bpf/gpu.h"

#include <stdbool.h>

/* CALL(symbol, role, a, b, detail, size of an element, GPU_SITE_BLOCKS or 0). A function that frees
 * has the kind of memory for which it is mostly used: a handle is not an address. CURRENT: the
 * context that is made also becomes the thread's current one; other contexts are primary ones.
 * cudaDeviceReset() is cuDevicePrimaryCtxReset() of its device. */
#define GPU_DRIVER_CALLS(CALL)                                                                 \
	CALL(cuCtxCreate, MAKES_CONTEXT, 0, 2, CURRENT, 0, 0)                                  \
	CALL(cuCtxCreate_v2, MAKES_CONTEXT, 0, 2, CURRENT, 0, 0)                               \
	CALL(cuCtxCreate_v3, MAKES_CONTEXT, 0, 4, CURRENT, 0, 0)                               \
	CALL(cuCtxCreate_v4, MAKES_CONTEXT, 0, 3, CURRENT, 0, 0)                               \
	CALL(cuDevicePrimaryCtxRetain, MAKES_CONTEXT, 0, 1, 0, 0, 0)                           \
	CALL(cuCtxSetCurrent, SETS_CONTEXT, 0, NONE, 0, 0, 0)                                  \
	CALL(cuCtxPushCurrent, PUSHES_CONTEXT, 0, NONE, 0, 0, 0)                               \
	CALL(cuCtxPushCurrent_v2, PUSHES_CONTEXT, 0, NONE, 0, 0, 0)                            \
	CALL(cuCtxPopCurrent, POPS_CONTEXT, NONE, NONE, 0, 0, 0)                               \
	CALL(cuCtxPopCurrent_v2, POPS_CONTEXT, NONE, NONE, 0, 0, 0)                            \
	CALL(cuCtxDestroy, ENDS_CONTEXT, 0, NONE, GPU_END_CONTEXT, 0, 0)                       \
	CALL(cuCtxDestroy_v2, ENDS_CONTEXT, 0, NONE, GPU_END_CONTEXT, 0, 0)                    \
	CALL(cuDevicePrimaryCtxRelease, ENDS_CONTEXT, 0, NONE, GPU_END_REFERENCE, 0, 0)        \
	CALL(cuDevicePrimaryCtxRelease_v2, ENDS_CONTEXT, 0, NONE, GPU_END_REFERENCE, 0, 0)     \
	CALL(cuDevicePrimaryCtxReset, ENDS_CONTEXT, 0, NONE, GPU_END_PRIMARY, 0, 0)            \
	CALL(cuDevicePrimaryCtxReset_v2, ENDS_CONTEXT, 0, NONE, GPU_END_PRIMARY, 0, 0)         \
	CALL(cuModuleGetFunction, NAMES, 0, 2, 0, 0, 0)                                        \
	CALL(cuLibraryGetKernel, NAMES, 0, 2, 0, 0, 0)                                         \
	CALL(cuKernelGetFunction, NAMES_AGAIN, 0, 1, 0, 0, 0)                                  \
	CALL(cuMemFree_v2, FREES, 0, NONE, GPU_MEMORY_DEVICE, 0, 0)                            \
	CALL(cuMemFreeAsync, FREES, 0, NONE, GPU_MEMORY_POOL, 0, 0)                            \
	CALL(cuMemFreeHost, FREES, 0, NONE, GPU_MEMORY_PINNED, 0, 0)                           \
	CALL(cuMemHostUnregister, FREES, 0, NONE, GPU_MEMORY_REGISTERED, 0, 0)                 \
	CALL(cuArrayDestroy, FREES, 0, NONE, GPU_MEMORY_ARRAY, 0, 0)                           \
	CALL(cuMipmappedArrayDestroy, FREES, 0, NONE, GPU_MEMORY_ARRAY, 0, 0)                  \
	CALL(cuMemRelease, FREES, 0, NONE, GPU_MEMORY_PHYSICAL, 0, 0)                          \
	CALL(cuMemMap, MAPS, 0, 1, GPU_MEMORY_PHYSICAL, 0, 0)                                  \
	CALL(cuMemUnmap, UNMAPS, 0, 1, GPU_MEMORY_PHYSICAL, 0, 0)                              \
	CALL(cuMemRetainAllocationHandle, RETAINS, 0, NONE, GPU_MEMORY_PHYSICAL, 0, 0)         \
	CALL(cuMemImportFromShareableHandle, RETAINS, 0, NONE, GPU_MEMORY_PHYSICAL, 0, 0)      \
	CALL(cuMemAlloc_v2, ALLOCATES, 0, 1, GPU_MEMORY_DEVICE, 0, 0)                          \
	CALL(cuMemAllocPitch_v2, ALLOCATES_PITCHED, 0, 2, GPU_MEMORY_DEVICE, 0, 0)             \
	CALL(cuMemAllocAsync, ALLOCATES, 0, 1, GPU_MEMORY_POOL, 0, 0)                          \
	CALL(cuMemAllocFromPoolAsync, ALLOCATES, 0, 1, GPU_MEMORY_POOL, 0, 0)                  \
	CALL(cuMemAllocManaged, ALLOCATES, 0, 1, GPU_MEMORY_MANAGED, 0, 0)                     \
	CALL(cuMemHostAlloc, ALLOCATES, 0, 1, GPU_MEMORY_PINNED, 0, 0)                         \
	CALL(cuMemAllocHost_v2, ALLOCATES, 0, 1, GPU_MEMORY_PINNED, 0, 0)                      \
	CALL(cuMemHostRegister, REGISTERS, 0, 1, GPU_MEMORY_REGISTERED, 0, 0)                  \
	CALL(cuMemHostRegister_v2, REGISTERS, 0, 1, GPU_MEMORY_REGISTERED, 0, 0)               \
	CALL(cuArrayCreate_v2, ALLOCATES_ARRAY, 0, 1, GPU_MEMORY_ARRAY, 0, 0)                  \
	CALL(cuArray3DCreate_v2, ALLOCATES_ARRAY3D, 0, 1, GPU_MEMORY_ARRAY, 0, 0)              \
	CALL(cuMipmappedArrayCreate, ALLOCATES_MIPMAPS, 0, 1, GPU_MEMORY_ARRAY, 0, 0)          \
	CALL(cuMemCreate, ALLOCATES_PHYSICAL, 0, 1, GPU_MEMORY_PHYSICAL, 0, 0)                 \
	CALL(cuLaunchKernel, LAUNCHES, 0, 1, 0, 0, 0)                                          \
	CALL(cuLaunchKernelEx, LAUNCHES_BY_CONFIG, 0, 1, 0, 0, 0)                              \
	CALL(cuLaunchCooperativeKernel, LAUNCHES, 0, 1, 0, 0, 0)                               \
	CALL(cuLaunch, LAUNCHES, 0, NONE, 0, 0, 0)                                             \
	CALL(cuLaunchGrid, LAUNCHES, 0, NONE, 0, 0, 0)                                         \
	CALL(cuLaunchGridAsync, LAUNCHES, 0, NONE, 0, 0, 0)                                    \
	CALL(cuGraphLaunch, LAUNCHES_GRAPH, 0, NONE, 0, 0, 0)                                  \
	CALL(cuStreamSynchronize, WAITS, NONE, NONE, 0, 0, 0)                                  \
	CALL(cuCtxSynchronize, WAITS, NONE, NONE, 0, 0, 0)                                     \
	CALL(cuCtxSynchronize_v2, WAITS, NONE, NONE, 0, 0, 0)                                  \
	CALL(cuEventSynchronize, WAITS, NONE, NONE, 0, 0, 0)                                   \
	CALL(cuMemcpy, COPIES, NONE, 2, GPU_COPY_DEFAULT, 0, GPU_SITE_BLOCKS)                  \
	CALL(cuMemcpyHtoD_v2, COPIES, NONE, 2, GPU_COPY_H2D, 0, GPU_SITE_BLOCKS)               \
	CALL(cuMemcpyDtoH_v2, COPIES, NONE, 2, GPU_COPY_D2H, 0, GPU_SITE_BLOCKS)               \
	CALL(cuMemcpyDtoD_v2, COPIES, NONE, 2, GPU_COPY_D2D, 0, 0)                             \
	CALL(cuMemcpyDtoA_v2, COPIES, NONE, 3, GPU_COPY_D2D, 0, 0)                             \
	CALL(cuMemcpyAtoD_v2, COPIES, NONE, 3, GPU_COPY_D2D, 0, 0)                             \
	CALL(cuMemcpyHtoA_v2, COPIES, NONE, 3, GPU_COPY_H2D, 0, GPU_SITE_BLOCKS)               \
	CALL(cuMemcpyAtoH_v2, COPIES, NONE, 3, GPU_COPY_D2H, 0, GPU_SITE_BLOCKS)               \
	CALL(cuMemcpyAtoA_v2, COPIES, NONE, 4, GPU_COPY_D2D, 0, 0)                             \
	CALL(cuMemcpyPeer, COPIES, NONE, 4, GPU_COPY_PEER, 0, 0)                               \
	CALL(cuMemcpyAsync, COPIES, NONE, 2, GPU_COPY_DEFAULT, 0, 0)                           \
	CALL(cuMemcpyHtoDAsync_v2, COPIES, NONE, 2, GPU_COPY_H2D, 0, 0)                        \
	CALL(cuMemcpyDtoHAsync_v2, COPIES, NONE, 2, GPU_COPY_D2H, 0, 0)                        \
	CALL(cuMemcpyDtoDAsync_v2, COPIES, NONE, 2, GPU_COPY_D2D, 0, 0)                        \
	CALL(cuMemcpyHtoAAsync_v2, COPIES, NONE, 3, GPU_COPY_H2D, 0, 0)                        \
	CALL(cuMemcpyAtoHAsync_v2, COPIES, NONE, 3, GPU_COPY_D2H, 0, 0)                        \
	CALL(cuMemcpyPeerAsync, COPIES, NONE, 4, GPU_COPY_PEER, 0, 0)                          \
	CALL(cuMemcpyWithAttributesAsync, COPIES, NONE, 2, GPU_COPY_DEFAULT, 0, 0)             \
	CALL(cuMemcpyBatchAsync, COPIES_BATCH, 2, 3, GPU_COPY_DEFAULT, 0, 0)                   \
	CALL(cuMemcpyBatchAsync_v2, COPIES_BATCH, 2, 3, GPU_COPY_DEFAULT, 0, 0)                \
	CALL(cuMemcpy2D_v2, COPIES_2D, 0, NONE, GPU_COPY_DEFAULT, 0, GPU_SITE_BLOCKS)          \
	CALL(cuMemcpy2DUnaligned_v2, COPIES_2D, 0, NONE, GPU_COPY_DEFAULT, 0, GPU_SITE_BLOCKS) \
	CALL(cuMemcpy2DAsync_v2, COPIES_2D, 0, NONE, GPU_COPY_DEFAULT, 0, 0)                   \
	CALL(cuMemcpy3D_v2, COPIES_3D, 0, NONE, GPU_COPY_DEFAULT, 0, GPU_SITE_BLOCKS)          \
	CALL(cuMemcpy3DAsync_v2, COPIES_3D, 0, NONE, GPU_COPY_DEFAULT, 0, 0)                   \
	CALL(cuMemcpy3DPeer, COPIES_3D, 0, NONE, GPU_COPY_PEER, 0, 0)                          \
	CALL(cuMemcpy3DPeerAsync, COPIES_3D, 0, NONE, GPU_COPY_PEER, 0, 0)                     \
	CALL(cuMemsetD8_v2, SETS, NONE, 2, GPU_COPY_SET, 1, 0)                                 \
	CALL(cuMemsetD16_v2, SETS, NONE, 2, GPU_COPY_SET, 2, 0)                                \
	CALL(cuMemsetD32_v2, SETS, NONE, 2, GPU_COPY_SET, 4, 0)                                \
	CALL(cuMemsetD8Async, SETS, NONE, 2, GPU_COPY_SET, 1, 0)                               \
	CALL(cuMemsetD16Async, SETS, NONE, 2, GPU_COPY_SET, 2, 0)                              \
	CALL(cuMemsetD32Async, SETS, NONE, 2, GPU_COPY_SET, 4, 0)                              \
	CALL(cuMemsetD2D8_v2, SETS_2D, NONE, 3, GPU_COPY_SET, 1, 0)                            \
	CALL(cuMemsetD2D16_v2, SETS_2D, NONE, 3, GPU_COPY_SET, 2, 0)                           \
	CALL(cuMemsetD2D32_v2, SETS_2D, NONE, 3, GPU_COPY_SET, 4, 0)                           \
	CALL(cuMemsetD2D8Async, SETS_2D, NONE, 3, GPU_COPY_SET, 1, 0)                          \
	CALL(cuMemsetD2D16Async, SETS_2D, NONE, 3, GPU_COPY_SET, 2, 0)                         \
	CALL(cuMemsetD2D32Async, SETS_2D, NONE, 3, GPU_COPY_SET, 4, 0)

/* TAG(symbol, argument that is the kind of copy). Launches are not tagged: the driver's call has
 * all information, and launches are too many. */
#define GPU_RUNTIME_TAGS(TAG)                    \
	TAG(cudaMalloc, NONE)                    \
	TAG(cudaMallocPitch, NONE)               \
	TAG(cudaMalloc3D, NONE)                  \
	TAG(cudaMallocManaged, NONE)             \
	TAG(cudaMallocAsync, NONE)               \
	TAG(cudaMallocFromPoolAsync, NONE)       \
	TAG(cudaMallocHost, NONE)                \
	TAG(cudaHostAlloc, NONE)                 \
	TAG(cudaHostRegister, NONE)              \
	TAG(cudaHostUnregister, NONE)            \
	TAG(cudaMallocArray, NONE)               \
	TAG(cudaMalloc3DArray, NONE)             \
	TAG(cudaMallocMipmappedArray, NONE)      \
	TAG(cudaFree, NONE)                      \
	TAG(cudaFreeAsync, NONE)                 \
	TAG(cudaFreeHost, NONE)                  \
	TAG(cudaFreeArray, NONE)                 \
	TAG(cudaFreeMipmappedArray, NONE)        \
	TAG(cudaMemcpy, 3)                       \
	TAG(cudaMemcpyAsync, 3)                  \
	TAG(cudaMemcpyPeer, NONE)                \
	TAG(cudaMemcpyPeerAsync, NONE)           \
	TAG(cudaMemcpy2D, 6)                     \
	TAG(cudaMemcpy2DAsync, 6)                \
	TAG(cudaMemcpy2DToArray, 7)              \
	TAG(cudaMemcpy2DToArrayAsync, 7)         \
	TAG(cudaMemcpy2DFromArray, 7)            \
	TAG(cudaMemcpy2DFromArrayAsync, 7)       \
	TAG(cudaMemcpy2DArrayToArray, 8)         \
	TAG(cudaMemcpy3D, NONE)                  \
	TAG(cudaMemcpy3DAsync, NONE)             \
	TAG(cudaMemcpy3DPeer, NONE)              \
	TAG(cudaMemcpy3DPeerAsync, NONE)         \
	TAG(cudaMemcpyToSymbol, 4)               \
	TAG(cudaMemcpyToSymbolAsync, 4)          \
	TAG(cudaMemcpyFromSymbol, 4)             \
	TAG(cudaMemcpyFromSymbolAsync, 4)        \
	TAG(cudaMemcpyToArray, 5)                \
	TAG(cudaMemcpyToArrayAsync, 5)           \
	TAG(cudaMemcpyFromArray, 5)              \
	TAG(cudaMemcpyFromArrayAsync, 5)         \
	TAG(cudaMemcpyArrayToArray, 7)           \
	TAG(cudaMemcpyBatchAsync, NONE)          \
	TAG(cudaMemcpyWithAttributesAsync, NONE) \
	TAG(cudaMemset, NONE)                    \
	TAG(cudaMemsetAsync, NONE)               \
	TAG(cudaMemset2D, NONE)                  \
	TAG(cudaMemset2DAsync, NONE)             \
	TAG(cudaMemset3D, NONE)                  \
	TAG(cudaMemset3DAsync, NONE)             \
	TAG(cudaDeviceSynchronize, NONE)         \
	TAG(cudaStreamSynchronize, NONE)         \
	TAG(cudaEventSynchronize, NONE)          \
	TAG(cudaThreadSynchronize, NONE)         \
	TAG(cudaExecutionCtxSynchronize, NONE)

/* CALL(symbol, readable name, role, a, b). PyTorch 1 has them with signed totals. */
#define GPU_TORCH_CALLS(CALL)                                                                   \
	CALL(_ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv,                                      \
	     "c10::ProfiledCPUMemoryReporter::Delete", FREES_TENSOR, 1, NONE)                   \
	CALL(_ZN3c1025ProfiledCPUMemoryReporter3NewEPvm, "c10::ProfiledCPUMemoryReporter::New", \
	     ALLOCATES_TENSOR, 1, 2)                                                            \
	CALL(_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE,                             \
	     "c10::reportMemoryUsageToProfiler", REPORTS, 0, 1)                                 \
	CALL(_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE,                             \
	     "c10::reportMemoryUsageToProfiler", REPORTS, 0, 1)                                 \
	CALL(_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE,                               \
	     "c10::reportOutOfMemoryToProfiler", REPORTS_OOM, NONE, 0)                          \
	CALL(_ZN3c1027reportOutOfMemoryToProfilerElllNS_6DeviceE,                               \
	     "c10::reportOutOfMemoryToProfiler", REPORTS_OOM, NONE, 0)

/* CALL(symbol, readable name, role, a, b, argument with the attributes or 0). In XLA's plugins they
 * are local symbols, in TensorFlow's libraries exported ones. All other functions of their kind
 * call these: AllocateRaw() without attributes calls the one with attributes; in
 * GpuCudaMallocAsyncAllocator it is the other way round. They do not throw: where there is no
 * memory, the address is 0. */
#define GPU_XLA_CALLS(CALL)                                                                        \
	CALL(_ZN3tsl12BFCAllocator13DeallocateRawEPv, "tsl::BFCAllocator::DeallocateRaw",          \
	     FREES_TENSOR, 1, NONE, 0)                                                             \
	CALL(_ZN3tsl12BFCAllocator11AllocateRawEmmRKNS_20AllocationAttributesE,                    \
	     "tsl::BFCAllocator::AllocateRaw", ALLOCATES_CHUNK, 0, 2, 3)                           \
	CALL(_ZN15stream_executor27GpuCudaMallocAsyncAllocator13DeallocateRawEPv,                  \
	     "stream_executor::GpuCudaMallocAsyncAllocator::DeallocateRaw", FREES_TENSOR, 1, NONE, \
	     0)                                                                                    \
	CALL(_ZN15stream_executor27GpuCudaMallocAsyncAllocator11AllocateRawEmm,                    \
	     "stream_executor::GpuCudaMallocAsyncAllocator::AllocateRaw", ALLOCATES_CHUNK, 0, 2,   \
	     0)

/* A set of libraries. */
enum gpu_library {
	GPU_LIBRARY_DRIVER = 1 << 0,
	GPU_LIBRARY_RUNTIME = 1 << 1,
	GPU_LIBRARY_TORCH = 1 << 2,
	GPU_LIBRARY_XLA = 1 << 3,
	GPU_LIBRARY_ALL = (1 << 4) - 1,
	/* Libraries with allocators of their own. */
	GPU_LIBRARIES_TENSOR = GPU_LIBRARY_TORCH | GPU_LIBRARY_XLA,
};

/* Number of calls in all lists, with 0, which is none. */
extern const uint8_t gpu_call_count;

/* The name of a function, without the suffix of its variant for per-thread streams, by the index in
 * the list that cookies, rows and events have. "" for 0, which is none. */
const char *gpu_call_name(uint8_t call);
/* The call that a symbol of one of these libraries stands for, and its library; 0: none. */
uint8_t gpu_call_of(const char *symbol, uint32_t libraries, enum gpu_library *ret_library);
/* The library of a call; 0 if there is no such call. */
uint32_t gpu_call_library(uint8_t call);
/* The cookie of a probe in it, without `pushed`; all zero if there is no such call. */
union gpu_site_cookie gpu_call_cookie(uint8_t number);
/* How many of its first arguments must be unchanged where the probe is. */
uint32_t gpu_call_arguments(uint8_t number);
/* Calls with a lower order are attached first: functions that end memory, or define its context,
 * before functions that allocate. So if the allocation of memory is seen, its end is not missed. */
unsigned gpu_call_order(uint8_t call);
