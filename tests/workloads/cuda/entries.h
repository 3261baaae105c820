/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The exports of the stand-in for the driver: ENTRY(exported name, function that it jumps to, shape
 * of its first instructions). The shapes occur in real drivers: a compare with a word of data and a
 * jump through a table (nearly all of driver 535); a frame that is set up and removed; the same
 * after an endbr64; and a shape whose first instruction the kernel's uprobes do not emulate.
 */
#pragma once

#define ENTRIES(ENTRY)                                              \
	ENTRY(cuInit, init, PUSH)                                   \
	ENTRY(cuDriverGetVersion, driver_get_version, PUSH)         \
	ENTRY(cuGetProcAddress, get_proc_address, TABLE)            \
	ENTRY(cuGetProcAddress_v2, get_proc_address_v2, TABLE)      \
	ENTRY(cuDeviceGetCount, device_get_count, TABLE)            \
	ENTRY(cuDeviceGet, device_get, TABLE)                       \
	ENTRY(cuDeviceGetName, device_get_name, TABLE)              \
	ENTRY(cuDeviceGetUuid_v2, device_get_uuid, TABLE)           \
	ENTRY(cuDeviceTotalMem_v2, device_total_mem, TABLE)         \
	ENTRY(cuDevicePrimaryCtxRetain, primary_retain, TABLE)      \
	ENTRY(cuDevicePrimaryCtxRelease_v2, primary_release, TABLE) \
	ENTRY(cuDevicePrimaryCtxReset_v2, primary_reset, TABLE)     \
	ENTRY(cuCtxCreate_v2, context_create, TABLE)                \
	ENTRY(cuCtxCreate_v3, context_create_v3, TABLE)             \
	ENTRY(cuCtxCreate_v4, context_create_v4, TABLE)             \
	ENTRY(cuCtxDestroy_v2, context_destroy, TABLE)              \
	ENTRY(cuCtxSetCurrent, context_set, TABLE)                  \
	ENTRY(cuCtxGetCurrent, context_get, TABLE)                  \
	ENTRY(cuCtxPushCurrent_v2, context_push, TABLE)             \
	ENTRY(cuCtxPopCurrent_v2, context_pop, TABLE)               \
	ENTRY(cuCtxGetDevice, context_device, TABLE)                \
	ENTRIES_OF_MEMORY(ENTRY)                                    \
	ENTRIES_OF_COPIES(ENTRY)                                    \
	ENTRIES_OF_LAUNCHES(ENTRY)

#define ENTRIES_OF_MEMORY(ENTRY)                                        \
	ENTRY(cuMemGetInfo_v2, mem_get_info, TABLE)                     \
	ENTRY(cuMemAlloc_v2, mem_alloc, TABLE)                          \
	ENTRY(cuMemAllocPitch_v2, mem_alloc_pitch, TABLE)               \
	ENTRY(cuMemAllocManaged, mem_alloc_managed, ENDBR)              \
	ENTRY(cuMemFree_v2, mem_free, TABLE)                            \
	ENTRY(cuMemAllocAsync, mem_alloc_async, TABLE)                  \
	ENTRY(cuMemAllocAsync_ptsz, mem_alloc_async, TABLE)             \
	ENTRY(cuMemAllocFromPoolAsync, mem_alloc_from_pool, TABLE)      \
	ENTRY(cuMemAllocFromPoolAsync_ptsz, mem_alloc_from_pool, TABLE) \
	ENTRY(cuMemFreeAsync, mem_free_async, TABLE)                    \
	ENTRY(cuMemFreeAsync_ptsz, mem_free_async, TABLE)               \
	ENTRY(cuMemPoolCreate, mem_pool_create, TABLE)                  \
	ENTRY(cuMemPoolDestroy, mem_pool_destroy, TABLE)                \
	ENTRY(cuDeviceGetDefaultMemPool, default_pool, TABLE)           \
	ENTRY(cuMemHostAlloc, mem_host_alloc, PUSH)                     \
	ENTRY(cuMemAllocHost_v2, mem_alloc_host, TABLE)                 \
	ENTRY(cuMemFreeHost, mem_free_host, TABLE)                      \
	ENTRY(cuMemHostRegister_v2, mem_host_register, TABLE)           \
	ENTRY(cuMemHostUnregister, mem_host_unregister, SUB)            \
	ENTRY(cuMemCreate, mem_create, TABLE)                           \
	ENTRY(cuMemRelease, mem_release, TABLE)                         \
	ENTRY(cuMemAddressReserve, mem_address_reserve, TABLE)          \
	ENTRY(cuMemAddressFree, mem_address_free, TABLE)                \
	ENTRY(cuMemMap, mem_map, TABLE)                                 \
	ENTRY(cuMemUnmap, mem_unmap, TABLE)                             \
	ENTRY(cuMemSetAccess, mem_set_access, TABLE)                    \
	ENTRY(cuMemRetainAllocationHandle, mem_retain_handle, TABLE)    \
	ENTRY(cuArrayCreate_v2, array_create, TABLE)                    \
	ENTRY(cuArray3DCreate_v2, array3d_create, TABLE)                \
	ENTRY(cuArrayDestroy, array_destroy, TABLE)                     \
	ENTRY(cuMipmappedArrayCreate, mipmaps_create, TABLE)            \
	ENTRY(cuMipmappedArrayDestroy, array_destroy, TABLE)

#define ENTRIES_OF_COPIES(ENTRY)                           \
	ENTRY(cuMemcpyHtoD_v2, copy_blocks, TABLE)         \
	ENTRY(cuMemcpyHtoD_v2_ptds, copy_blocks, TABLE)    \
	ENTRY(cuMemcpyDtoH_v2, copy_blocks, TABLE)         \
	ENTRY(cuMemcpyDtoH_v2_ptds, copy_blocks, TABLE)    \
	ENTRY(cuMemcpyDtoD_v2, copy, TABLE)                \
	ENTRY(cuMemcpyDtoD_v2_ptds, copy, TABLE)           \
	ENTRY(cuMemcpyHtoDAsync_v2, copy, TABLE)           \
	ENTRY(cuMemcpyHtoDAsync_v2_ptsz, copy, TABLE)      \
	ENTRY(cuMemcpyDtoHAsync_v2, copy, TABLE)           \
	ENTRY(cuMemcpyDtoHAsync_v2_ptsz, copy, TABLE)      \
	ENTRY(cuMemcpyDtoDAsync_v2, copy, TABLE)           \
	ENTRY(cuMemcpyDtoDAsync_v2_ptsz, copy, TABLE)      \
	ENTRY(cuMemcpy, copy_blocks, ENDBR)                \
	ENTRY(cuMemcpy_ptds, copy_blocks, ENDBR)           \
	ENTRY(cuMemcpyAsync, copy, TABLE)                  \
	ENTRY(cuMemcpyAsync_ptsz, copy, TABLE)             \
	ENTRY(cuMemcpyPeer, copy_peer, TABLE)              \
	ENTRY(cuMemcpyPeer_ptds, copy_peer, TABLE)         \
	ENTRY(cuMemcpyPeerAsync, copy_peer, TABLE)         \
	ENTRY(cuMemcpyPeerAsync_ptsz, copy_peer, TABLE)    \
	ENTRY(cuMemcpy2D_v2, copy_struct, TABLE)           \
	ENTRY(cuMemcpy2D_v2_ptds, copy_struct, TABLE)      \
	ENTRY(cuMemcpy2DUnaligned_v2, copy_struct, TABLE)  \
	ENTRY(cuMemcpy2DAsync_v2, copy_struct, TABLE)      \
	ENTRY(cuMemcpy2DAsync_v2_ptsz, copy_struct, TABLE) \
	ENTRY(cuMemcpy3D_v2, copy_struct, TABLE)           \
	ENTRY(cuMemcpy3D_v2_ptds, copy_struct, TABLE)      \
	ENTRY(cuMemcpy3DAsync_v2, copy_struct, TABLE)      \
	ENTRY(cuMemcpy3DAsync_v2_ptsz, copy_struct, TABLE) \
	ENTRY(cuMemsetD8_v2, set, TABLE)                   \
	ENTRY(cuMemsetD8_v2_ptds, set, TABLE)              \
	ENTRY(cuMemsetD16_v2, set, TABLE)                  \
	ENTRY(cuMemsetD32_v2, set, TABLE)                  \
	ENTRY(cuMemsetD8Async, set, TABLE)                 \
	ENTRY(cuMemsetD8Async_ptsz, set, TABLE)            \
	ENTRY(cuMemsetD32Async, set, TABLE)                \
	ENTRY(cuMemsetD2D8_v2, set_2d, TABLE)

#define ENTRIES_OF_LAUNCHES(ENTRY)                                   \
	ENTRY(cuModuleLoadData, module_load, TABLE)                  \
	ENTRY(cuModuleUnload, module_unload, TABLE)                  \
	ENTRY(cuModuleGetFunction, module_get_function, TABLE)       \
	ENTRY(cuLibraryLoadData, module_load, TABLE)                 \
	ENTRY(cuLibraryUnload, module_unload, TABLE)                 \
	ENTRY(cuLibraryGetKernel, module_get_function, TABLE)        \
	ENTRY(cuKernelGetFunction, kernel_get_function, TABLE)       \
	ENTRY(cuLaunchKernel, launch, TABLE)                         \
	ENTRY(cuLaunchKernel_ptsz, launch, TABLE)                    \
	ENTRY(cuLaunchKernelEx, launch_config, TABLE)                \
	ENTRY(cuLaunchKernelEx_ptsz, launch_config, TABLE)           \
	ENTRY(cuLaunchCooperativeKernel, launch, TABLE)              \
	ENTRY(cuLaunchCooperativeKernel_ptsz, launch, TABLE)         \
	ENTRY(cuGraphCreate, graph_create, TABLE)                    \
	ENTRY(cuGraphAddKernelNode_v2, graph_add, TABLE)             \
	ENTRY(cuGraphInstantiateWithFlags, graph_instantiate, TABLE) \
	ENTRY(cuGraphLaunch, graph_launch, TABLE)                    \
	ENTRY(cuGraphLaunch_ptsz, graph_launch, TABLE)               \
	ENTRY(cuGraphExecDestroy, graph_exec_destroy, TABLE)         \
	ENTRY(cuStreamCreate, object_create, TABLE)                  \
	ENTRY(cuEventCreate, object_create, TABLE)                   \
	ENTRY(cuStreamSynchronize, wait, TABLE)                      \
	ENTRY(cuStreamSynchronize_ptsz, wait, TABLE)                 \
	ENTRY(cuEventSynchronize, wait, TABLE)                       \
	ENTRY(cuCtxSynchronize, wait, TABLE)

/*
 * The shapes as instructions, followed by a jump to the implementation, which gets the arguments
 * unchanged. At the end of a shape the stack pointer has its value from the start.
 */
#ifdef __x86_64__
#define SHAPE_TABLE(name, behind)                                                          \
	"	cmpl $0x321cba00, fakecuda_ended(%rip)\n	je 1f\n"                                \
	"	jmp *slot_" #name "(%rip)\n1:	mov $4, %eax\n	ret\n"                        \
	".pushsection .data.rel.ro,\"aw\"\n.balign 8\nslot_" #name ": .quad fake_" #behind \
	"\n.popsection\n"
#define SHAPE_PUSH(name, behind)                                        \
	"	push %rbp\n	.cfi_def_cfa_offset 16\n	.cfi_offset %rbp, -16\n" \
	"	mov %rsp, %rbp\n	pop %rbp\n	.cfi_restore %rbp\n"              \
	"	.cfi_def_cfa_offset 8\n	jmp fake_" #behind "\n"
#define SHAPE_ENDBR(name, behind) "	endbr64\n" SHAPE_PUSH(name, behind)
#define SHAPE_SUB(name, behind)                    \
	"	sub $8, %rsp\n	.cfi_def_cfa_offset 16\n" \
	"	add $8, %rsp\n	.cfi_def_cfa_offset 8\n	jmp fake_" #behind "\n"
#else
#define SHAPE_TABLE(name, behind) "	b fake_" #behind "\n"
#define SHAPE_PUSH                SHAPE_TABLE
#define SHAPE_ENDBR               SHAPE_TABLE
#define SHAPE_SUB                 SHAPE_TABLE
#endif

#define ASSEMBLED(name, instructions)                                                           \
	__asm__(".text\n.globl " #name "\n.type " #name ", %function\n.balign 16\n" #name ":\n" \
	        "	.cfi_startproc\n" instructions "	.cfi_endproc\n.size " #name     \
	        ", . - " #name "\n");
#define ASSEMBLED_ENTRY(name, behind, shape) ASSEMBLED(name, SHAPE_##shape(name, behind))
