/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Allocators of XLA and TensorFlow: tsl::BFCAllocator and its kin, which hand out chunks of memory
 * that they got from the driver. They report to no other function, so their calls are followed from
 * entry to return, independently of a call of the driver that one of them may make: neither is part
 * of the other.
 *
 * Only the allocator's name says which device it is for. The name is a std::string somewhere in the
 * object, at another place in each version. The programs look for it once, by the form of such
 * names: "GPU_0_bfc", "GPU_collectivememory_0_bfc", "gpu_async_0"; "xla_gpu_host_bfc",
 * "gpu_host_bfc", "bfc_cpu..." for memory of the host. Source: xla/pjrt/gpu/gpu_helpers.cc,
 * stream_executor's cuda/cuda_malloc_async_allocator.cc,
 * tensorflow/core/common_runtime/gpu/gpu_process_state.cc.
 */
#pragma once

#include "bpf/gpu/gpu_memory.bpf.h"

enum {
	ALLOCATOR_WORDS = 384, /* of an object; in jaxlib 0.12 the name is word 125. As a word's
	                          number: the allocator has no name */
	NOT_SEARCHED = ALLOCATOR_WORDS + 1,
	ALLOCATOR_NAME_BYTES = 32,
	MIN_NAME_BYTES = 8,
	MAX_NAME_BYTES = 64,
	NO_NAME = 0x100, /* a value that is no device */
};

/* A std::string of libstdc++. One of libc++ does not match the checks below. */
struct string_in_object {
	u64 at, length;
};

struct allocator_search {
	u64 allocator;
	u32 word, device;
	u32 unreadable;
};

union allocator_name {
	char text[ALLOCATOR_NAME_BYTES];
	u32 words[ALLOCATOR_NAME_BYTES / sizeof(u32)];
};

/* Four letters as they are in memory. */
#define LETTERS(a, b, c, d) ((u32)(a) | (u32)(b) << 8 | (u32)(c) << 16 | (u32)(d) << 24)

static __always_inline u32 first_number(const union allocator_name *name)
{
	u32 number = 0, is_one = 0;

	for (u32 i = 0; i < ALLOCATOR_NAME_BYTES; i++) {
		u32 digit = (u8)name->text[i] - (u32)'0';

		if (digit <= 9) {
			number = (number * 10 + digit) & 0xfff;
			is_one = 1;
		} else if (is_one) {
			break;
		}
	}
	return is_one && number < GPU_DEVICE_HOST ? number : GPU_DEVICE_UNKNOWN;
}

/* The device named by the string at this address of user space; NO_NAME: it is no allocator's name.
 * Global, as known_of(). */
__noinline u32 device_of_name(u64 string)
{
	union allocator_name name = {};

	if (bpf_probe_read_user_str(name.text, sizeof(name.text), (void *)string) <= 0)
		return NO_NAME;
	switch (name.words[0]) {
	case LETTERS('g', 'p', 'u', '_'):
		if (name.words[1] == LETTERS('h', 'o', 's', 't'))
			return GPU_DEVICE_HOST;
		return name.words[1] == LETTERS('a', 's', 'y', 'n') ? first_number(&name) : NO_NAME;
	case LETTERS('G', 'P', 'U', '_'):
		return first_number(&name);
	case LETTERS('x', 'l', 'a', '_'):
		return name.words[1] == LETTERS('g', 'p', 'u', '_') ? GPU_DEVICE_HOST : NO_NAME;
	case LETTERS('b', 'f', 'c', '_'):
		return name.words[1] == LETTERS('c', 'p', 'u', '_') ? GPU_DEVICE_HOST : NO_NAME;
	}
	return NO_NAME;
}

/* Returns 1 to end the search. */
static long look_at_word(u32 index, void *context)
{
	struct allocator_search *search = context;
	struct string_in_object string;
	u32 device;

	if (bpf_probe_read_user(&string, sizeof(string),
	                        (void *)(search->allocator + index * sizeof(u64)))) {
		search->unreadable = 1;
		return 1;
	}
	if (string.length < MIN_NAME_BYTES || string.length > MAX_NAME_BYTES)
		return 0;
	device = device_of_name(string.at);
	if (device == NO_NAME)
		return 0;
	search->word = index;
	search->device = device;
	return 1;
}

/* The device of an allocator. The name is read each time, because another allocator may be at the
 * same address later. An allocator without a name is not searched again, unless none was found
 * because a page was not in memory. */
__noinline u32 allocator_device(u64 allocator)
{
	struct allocator_search search = {.allocator = allocator, .device = GPU_DEVICE_UNKNOWN};
	u32 known = known_of(GPU_KNOWN_ALLOCATOR, allocator, NOT_SEARCHED);

	if (known == ALLOCATOR_WORDS || (known != NOT_SEARCHED && look_at_word(known, &search)))
		return search.device;
	GPU_ADD(allocators_searched);
	bpf_loop(ALLOCATOR_WORDS, look_at_word, &search, 0);
	if (search.device == GPU_DEVICE_UNKNOWN && search.unreadable) {
		GPU_ADD(unreadable);
		return search.device;
	}
	if (search.device == GPU_DEVICE_UNKNOWN)
		search.word = ALLOCATOR_WORDS;
	known_keep(GPU_KNOWN_ALLOCATOR, allocator, search.word);
	return search.device;
}

/* tsl::AllocationAttributes begins with the bool retry_on_failure. A caller that sets it to false
 * only tries; lack of room is no failure then. */
static __always_inline int is_a_try(u64 attributes)
{
	u8 retries = 1;

	if (bpf_probe_read_user(&retries, sizeof(retries), (void *)attributes))
		GPU_ADD(unreadable);
	return !retries;
}

/* At the entry; 1 when the return is wanted. A call made by another such call is part of that
 * one. */
static __always_inline u32 chunk_begins(struct gpu_thread *thread, union gpu_site_cookie site,
                                        const struct gpu_place *place)
{
	const volatile struct pt_regs *regs = place->regs;
	u64 frame = place->frame;

	if (thread->chunk_frame) {
		if ((frame < thread->chunk_frame ||
		     (frame == thread->chunk_frame && site.cookie != thread->chunk_site)) &&
		    is_awaited(thread->chunk_frame))
			return 0;
		GPU_ADD(returns_lost);
	}
	if (thread->frame && frame >= thread->frame) {
		GPU_ADD(returns_lost);
		thread->frame = 0;
	}
	GPU_ADD(returns);
	thread->chunk_frame = frame;
	thread->chunk_site = site.cookie;
	thread->chunk_bytes = argument(regs, site.b);
	thread->chunk_device = allocator_device(argument(regs, site.a));
	thread->chunk_is_a_try = site.size && is_a_try(argument(regs, site.size));
	return 1;
}

/* Behind the return, whose result is the address. A call for no bytes gets none. */
static __always_inline int chunk_ends(struct gpu_thread *thread, u64 address,
                                      struct gpu_event *ret_event)
{
	const union gpu_site_cookie site = {.cookie = thread->chunk_site};
	u16 kind = GPU_EVENT_ALLOC;

	thread->chunk_frame = 0;
	if (!thread->chunk_bytes)
		return 0;
	if (!address)
		kind = thread->chunk_is_a_try ? GPU_EVENT_FAILED : GPU_EVENT_OOM;
	describe(ret_event, kind, GPU_LAYER_TENSOR, address);
	ret_event->size = thread->chunk_bytes;
	ret_event->memory = site.detail;
	ret_event->device = thread->chunk_device;
	ret_event->call = site.call;
	return 1;
}
