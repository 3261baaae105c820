/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Calls that allocate or free, or that decide how long memory exists: what is asked for at their
 * entry, and what they gave at their end. Also the allocators of frameworks, which report when all
 * is done. Each function writes the event to send if it returns 1. Its caller sends the event, in
 * one place for all: the verifier checks tell() again for each call of it.
 */
#pragma once

#include "bpf/gpu/gpu_send.bpf.h"

enum { CUDA_OUT_OF_MEMORY = 2 }; /* CUDA_ERROR_OUT_OF_MEMORY */

/* At the entry. `first` is where the address will be, or the address; `second` is what is read when
 * the result is known. */
static __always_inline void memory_begins(struct gpu_thread *thread,
                                          const volatile struct pt_regs *regs,
                                          union gpu_site_cookie site, u64 frame)
{
	u32 levels = 1;

	thread->first = argument_any(regs, frame, site.a);
	thread->second = 0;
	thread->size = argument_any(regs, frame, site.b);
	thread->memory_device = thread->device;
	if (site.detail == GPU_MEMORY_PINNED || site.detail == GPU_MEMORY_REGISTERED)
		thread->memory_device = GPU_DEVICE_HOST;
	switch (site.role) {
	case GPU_ALLOCATES_PITCHED:
		/* The width asked for, until the call has returned the width of a row. */
		thread->second = argument_any(regs, frame, site.a + 1);
		thread->size = argument_any(regs, frame, site.a + 2);
		thread->began_ns = argument_any(regs, frame, site.a + 3); /* rows */
		break;
	case GPU_ALLOCATES_ARRAY:
		thread->size = array_bytes(thread->size, levels, 0);
		break;
	case GPU_ALLOCATES_MIPMAPS:
		levels = argument_any(regs, frame, site.b + 1);
		/* fall through */
	case GPU_ALLOCATES_ARRAY3D:
		thread->size = array_bytes(thread->size, levels, 1);
		break;
	case GPU_ALLOCATES_PHYSICAL:
		thread->memory_device = read_location(argument_any(regs, frame, site.b + 1));
		break;
	}
}

/* Behind the return. */
static __always_inline int memory_ends(const struct gpu_thread *thread, union gpu_site_cookie site,
                                       u64 frame, u32 result, struct gpu_event *ret_event)
{
	u64 size = thread->size, address = thread->first;

	u16 kind = GPU_EVENT_ALLOC;

	if (result)
		kind = result == CUDA_OUT_OF_MEMORY ? GPU_EVENT_OOM : GPU_EVENT_FAILED;
	if (site.role == GPU_ALLOCATES_PITCHED)
		size = (result ? size : read_u64(thread->second)) * thread->began_ns;
	if (!result && site.role != GPU_REGISTERS)
		address = read_u64(address);
	if (!result && !address)
		return 0;
	describe(ret_event, kind, GPU_LAYER_DRIVER, result ? 0 : address);
	ret_event->size = size;
	ret_event->context = thread->context;
	ret_event->memory = site.detail;
	ret_event->device = thread->memory_device;
	ret_event->call = site.call;
	ret_event->via = is_tagged(thread, frame) ? thread->tag_call : 0;
	return 1;
}

static __always_inline int memory_is_freed(union gpu_site_cookie site, u64 address, u64 began_ns,
                                           struct gpu_event *ret_event)
{
	if (!address)
		return 0;
	describe(ret_event, GPU_EVENT_FREE, GPU_LAYER_DRIVER, address);
	ret_event->time_ns = began_ns;
	ret_event->memory = site.detail;
	ret_event->call = site.call;
	return 1;
}

/* A context was made. `detail` 1: it becomes the thread's current one; else it is a device's
 * primary context. NVIDIA's runtime makes the handle of that one current first, and the context
 * after that. */
static __always_inline int context_made(struct gpu_thread *thread, union gpu_site_cookie site,
                                        struct gpu_event *ret_event)
{
	u64 context = read_u64(thread->first);
	u32 device = (u8)thread->second;

	known_keep(GPU_KNOWN_CONTEXT, context, device);
	if (site.detail)
		context_push(thread, context);
	else if (thread->context == context)
		thread->device = device;
	describe(ret_event, GPU_EVENT_CONTEXT, GPU_LAYER_DRIVER, context);
	ret_event->size = !site.detail;
	ret_event->device = device;
	ret_event->call = site.call;
	return 1;
}

/* A context has ended. If one of the thread's own is destroyed, it is removed; a primary one stays,
 * and is made again when it is used. */
static __always_inline int context_ended(struct gpu_thread *thread, union gpu_site_cookie site,
                                         struct gpu_event *ret_event)
{
	describe(ret_event, GPU_EVENT_ENDED, GPU_LAYER_DRIVER, 0);
	ret_event->time_ns = thread->began_ns;
	ret_event->memory = site.detail;
	ret_event->call = site.call;
	if (site.detail == GPU_END_CONTEXT) {
		ret_event->address = thread->first;
		known_over(GPU_KNOWN_CONTEXT, thread->first);
		if (thread->context == thread->first)
			context_pop(thread);
	} else {
		ret_event->device = thread->first;
	}
	return 1;
}

/* Physical memory is mapped, unmapped, or gets one more owner. */
static __always_inline int physical_changes(const struct gpu_thread *thread,
                                            union gpu_site_cookie site, struct gpu_event *ret_event)
{
	describe(ret_event, GPU_EVENT_RETAINED, GPU_LAYER_DRIVER, thread->first);
	ret_event->memory = GPU_MEMORY_PHYSICAL;
	ret_event->call = site.call;
	if (site.role == GPU_RETAINS) {
		ret_event->address = read_u64(thread->first);
	} else {
		ret_event->kind = site.role == GPU_MAPS ? GPU_EVENT_MAPPED : GPU_EVENT_UNMAPPED;
		ret_event->size = thread->second;
		ret_event->handle = thread->size;
		ret_event->time_ns = site.role == GPU_MAPS ? 0 : thread->began_ns;
	}
	return 1;
}

/* c10::Device: its type and its index, a byte each. Other functions report memory of the host; this
 * one does so only while PyTorch's own profiler is on. */
enum { C10_HOST = 0 };

static __always_inline u8 tensor_device(u64 device)
{
	return (u8)device == C10_HOST ? GPU_DEVICE_HOST : (u8)(device >> 8);
}

static __always_inline int tensor_reported(union gpu_site_cookie site,
                                           const volatile struct pt_regs *regs,
                                           struct gpu_event *ret_event)
{
	s64 bytes = argument(regs, 1);
	u8 device = tensor_device(argument(regs, 4));

	if (device == GPU_DEVICE_HOST || !bytes)
		return 0;
	describe(ret_event, bytes < 0 ? GPU_EVENT_FREE : GPU_EVENT_ALLOC, GPU_LAYER_TENSOR,
	         argument(regs, 0));
	ret_event->size = bytes < 0 ? -bytes : bytes;
	ret_event->allocated = argument(regs, 2);
	ret_event->reserved = argument(regs, 3);
	ret_event->memory = GPU_MEMORY_TENSOR;
	ret_event->device = device;
	ret_event->call = site.call;
	return 1;
}

static __always_inline int tensor_oom(union gpu_site_cookie site,
                                      const volatile struct pt_regs *regs,
                                      struct gpu_event *ret_event)
{

	describe(ret_event, GPU_EVENT_OOM, GPU_LAYER_TENSOR, 0);
	ret_event->size = argument(regs, 0);
	ret_event->allocated = argument(regs, 1);
	ret_event->reserved = argument(regs, 2);
	ret_event->memory = GPU_MEMORY_TENSOR;
	ret_event->device = tensor_device(argument(regs, 3));
	ret_event->call = site.call;
	return 1;
}

/* For memory of the host. */
static __always_inline int tensor_changes(union gpu_site_cookie site,
                                          const volatile struct pt_regs *regs,
                                          struct gpu_event *ret_event)
{
	int is_new = site.role == GPU_ALLOCATES_TENSOR;
	u64 address = argument(regs, site.a);

	if (!address)
		return 0;
	describe(ret_event, is_new ? GPU_EVENT_ALLOC : GPU_EVENT_FREE, GPU_LAYER_TENSOR, address);
	ret_event->size = is_new ? argument(regs, site.b) : 0;
	ret_event->memory = GPU_MEMORY_TENSOR;
	ret_event->device = GPU_DEVICE_HOST;
	ret_event->call = site.call;
	return 1;
}
