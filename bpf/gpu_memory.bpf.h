/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Calls that allocate or free, or on which it depends how long memory is there: what they were
 * asked for at their beginning, what they gave at their end. And the allocators of frameworks,
 * which say so when all is done.
 */
#pragma once

#include "bpf/gpu_send.bpf.h"

enum { CUDA_OUT_OF_MEMORY = 2 }; /* CUDA_ERROR_OUT_OF_MEMORY */

/* At the entry: `first` is where the address will be, or the address; `second` what is read when
 * it is known how it went. */
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
		/* As wide as it was asked for, until the width of a row is told. */
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
static __always_inline void memory_ends(struct gpu_thread *thread, union gpu_site_cookie site,
                                        const struct gpu_place *place, u32 result)
{
	struct gpu_event event;
	u64 size = thread->size, address = thread->first;

	u16 kind = GPU_EVENT_ALLOC;

	if (result)
		kind = result == CUDA_OUT_OF_MEMORY ? GPU_EVENT_OOM : GPU_EVENT_FAILED;
	if (site.role == GPU_ALLOCATES_PITCHED)
		size = (result ? size : read_u64(thread->second)) * thread->began_ns;
	if (!result && site.role != GPU_REGISTERS)
		address = read_u64(address);
	if (!result && !address)
		return;
	describe(&event, kind, GPU_LAYER_DRIVER, result ? 0 : address);
	event.size = size;
	event.context = thread->context;
	event.memory = site.detail;
	event.device = thread->memory_device;
	event.call = site.call;
	event.via = is_tagged(thread, place->frame) ? thread->tag_call : 0;
	tell(thread, &event, place);
}

static __always_inline void memory_is_freed(struct gpu_thread *thread, union gpu_site_cookie site,
                                            u64 address, u64 began_ns)
{
	struct gpu_event event;

	if (!address)
		return;
	describe(&event, GPU_EVENT_FREE, GPU_LAYER_DRIVER, address);
	event.time_ns = began_ns;
	event.memory = site.detail;
	event.call = site.call;
	tell(thread, &event, NULL);
}

/* `detail` 1: it is the thread's current one from now on; else it is a device's primary one. */
static __always_inline void context_made(struct gpu_thread *thread, union gpu_site_cookie site)
{
	u64 context = read_u64(thread->first);
	u32 device = (u8)thread->second;
	struct gpu_event event;

	known_keep(GPU_KNOWN_CONTEXT, context, device);
	if (site.detail)
		context_push(thread, context);
	describe(&event, GPU_EVENT_CONTEXT, GPU_LAYER_DRIVER, context);
	event.size = !site.detail;
	event.device = device;
	event.call = site.call;
	tell(thread, &event, NULL);
}

/* Of the thread's own contexts one that is destroyed is taken away; a primary one stays, and is
 * made again when it is used. */
static __always_inline void context_ended(struct gpu_thread *thread, union gpu_site_cookie site)
{
	struct gpu_event event;

	describe(&event, GPU_EVENT_ENDED, GPU_LAYER_DRIVER, 0);
	event.time_ns = thread->began_ns;
	event.memory = site.detail;
	event.call = site.call;
	if (site.detail == GPU_END_CONTEXT) {
		event.address = thread->first;
		known_over(GPU_KNOWN_CONTEXT, thread->first);
		if (thread->context == thread->first)
			context_pop(thread);
	} else {
		event.device = thread->first;
	}
	tell(thread, &event, NULL);
}

/* Physical memory is mapped, unmapped, or has one more owner. */
static __always_inline void physical_changes(struct gpu_thread *thread, union gpu_site_cookie site)
{
	struct gpu_event event;

	describe(&event, GPU_EVENT_RETAINED, GPU_LAYER_DRIVER, thread->first);
	event.memory = GPU_MEMORY_PHYSICAL;
	event.call = site.call;
	if (site.role == GPU_RETAINS) {
		event.address = read_u64(thread->first);
	} else {
		event.kind = site.role == GPU_MAPS ? GPU_EVENT_MAPPED : GPU_EVENT_UNMAPPED;
		event.size = thread->second;
		event.handle = thread->size;
		event.time_ns = site.role == GPU_MAPS ? 0 : thread->began_ns;
	}
	tell(thread, &event, NULL);
}

/* c10::Device: its type and its index, a byte each. Memory of the host is told by other functions,
 * and by this one only while PyTorch's own profiler is on. */
enum { C10_HOST = 0 };

static __always_inline u8 tensor_device(u64 device)
{
	return (u8)device == C10_HOST ? GPU_DEVICE_HOST : (u8)(device >> 8);
}

static __always_inline void tensor_reported(struct gpu_thread *thread, union gpu_site_cookie site,
                                            const struct gpu_place *place)
{
	const volatile struct pt_regs *regs = place->regs;
	struct gpu_event event;
	s64 bytes = argument(regs, 1);
	u8 device = tensor_device(argument(regs, 4));

	if (device == GPU_DEVICE_HOST || !bytes)
		return;
	describe(&event, bytes < 0 ? GPU_EVENT_FREE : GPU_EVENT_ALLOC, GPU_LAYER_TENSOR,
	         argument(regs, 0));
	event.size = bytes < 0 ? -bytes : bytes;
	event.allocated = argument(regs, 2);
	event.reserved = argument(regs, 3);
	event.memory = GPU_MEMORY_TENSOR;
	event.device = device;
	event.call = site.call;
	tell(thread, &event, place);
}

static __always_inline void tensor_oom(struct gpu_thread *thread, union gpu_site_cookie site,
                                       const struct gpu_place *place)
{
	const volatile struct pt_regs *regs = place->regs;
	struct gpu_event event;

	describe(&event, GPU_EVENT_OOM, GPU_LAYER_TENSOR, 0);
	event.size = argument(regs, 0);
	event.allocated = argument(regs, 1);
	event.reserved = argument(regs, 2);
	event.memory = GPU_MEMORY_TENSOR;
	event.device = tensor_device(argument(regs, 3));
	event.call = site.call;
	tell(thread, &event, place);
}

/* Of the host. */
static __always_inline void tensor_changes(struct gpu_thread *thread, union gpu_site_cookie site,
                                           const struct gpu_place *place)
{
	int is_new = site.role == GPU_ALLOCATES_TENSOR;
	u64 address = argument(place->regs, site.a);
	struct gpu_event event;

	if (!address)
		return;
	describe(&event, is_new ? GPU_EVENT_ALLOC : GPU_EVENT_FREE, GPU_LAYER_TENSOR, address);
	event.size = is_new ? argument(place->regs, site.b) : 0;
	event.memory = GPU_MEMORY_TENSOR;
	event.device = GPU_DEVICE_HOST;
	event.call = site.call;
	tell(thread, &event, place);
}
