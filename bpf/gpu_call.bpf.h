/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A call of a probed function from its entry to its return: what each role comes to. A call that is
 * made inside of one whose return is wanted is part of that one.
 */
#pragma once

#include "bpf/gpu_chunk.bpf.h"
#include "bpf/gpu_counted.bpf.h"

/* Whether the thread is inside of another call. One that lies deeper on the stack than this one has
 * ended unseen, and so has one at the same place, unless it has ended in a jump to this. */
static __always_inline int is_inside(struct gpu_thread *thread, u64 frame, u64 cookie)
{
	u64 outer = thread->frame;

	if (!outer)
		return 0;
	if ((frame < outer || (frame == outer && cookie != thread->site)) && is_awaited(outer))
		return 1;
	GPU_ADD(returns_lost);
	thread->frame = 0;
	return 0;
}

/* The return is wanted. */
static __always_inline u32 follow(struct gpu_thread *thread, u64 cookie, u64 frame)
{
	GPU_ADD(returns);
	thread->site = cookie;
	thread->frame = frame;
	return 1;
}

/* Roles whose entry says all. */
static __always_inline void happens(struct gpu_thread *thread, union gpu_site_cookie site,
                                    const struct gpu_place *place)
{
	const volatile struct pt_regs *regs = place->regs;

	switch (site.role) {
	case GPU_SETS_CONTEXT:
		context_set(thread, argument(regs, site.a));
		break;
	case GPU_PUSHES_CONTEXT:
		context_push(thread, argument(regs, site.a));
		break;
	case GPU_POPS_CONTEXT:
		context_pop(thread);
		break;
	case GPU_TAGS:
		tag(thread, regs, site, place->frame);
		break;
	case GPU_REPORTS:
		tensor_reported(thread, site, place);
		break;
	case GPU_REPORTS_OOM:
		tensor_oom(thread, site, place);
		break;
	case GPU_ALLOCATES_TENSOR:
	case GPU_FREES_TENSOR:
		tensor_changes(thread, site, place);
		break;
	case GPU_FREES:
		/* Nobody will say whether it went well. */
		memory_is_freed(thread, site, argument_any(regs, place->frame, site.a), 0);
		break;
	}
}

static __always_inline int is_launch(u8 role)
{
	return role == GPU_LAUNCHES || role == GPU_LAUNCHES_BY_CONFIG || role == GPU_LAUNCHES_GRAPH;
}

static __always_inline int is_copy(u8 role)
{
	return role >= GPU_COPIES && role <= GPU_SETS_2D;
}

/* Keeps of the arguments what the return will need: of memory, names and contexts. What is mapped
 * is told two behind how much. Not inline, as array_bytes(). */
static __noinline void keep_arguments(struct gpu_thread *thread, u64 cookie,
                                      const struct gpu_place *place)
{
	const volatile struct pt_regs *regs = place->regs;
	const union gpu_site_cookie site = {.cookie = cookie};

	if (site.role <= GPU_REGISTERS) {
		memory_begins(thread, regs, site, place->frame);
		return;
	}
	thread->first = argument_any(regs, place->frame, site.a);
	thread->second = argument_any(regs, place->frame, site.b);
	thread->size = site.role == GPU_MAPS ? argument_any(regs, place->frame, site.b + 2) : 0;
	thread->began_ns = bpf_ktime_get_ns();
}

/* A copy: counted now, or when it is over if that is waited for. */
static __always_inline u32 copy_begins(struct gpu_thread *thread, union gpu_site_cookie site,
                                       const struct gpu_place *place)
{
	struct gpu_copied what;

	read_copied(site.cookie, place, &what);
	if (!thread || !(site.flags & GPU_SITE_BLOCKS) || !(site.flags & GPU_SITE_RETURNS)) {
		copied(thread, site, place, what.bytes, what.direction);
		return 0;
	}
	thread->size = what.bytes;
	thread->first = what.direction;
	thread->began_ns = bpf_ktime_get_ns();
	return follow(thread, site.cookie, place->frame);
}

/* At the entry of a function; 1 when its return is wanted. */
static __always_inline u32 call_begins(const volatile struct pt_regs *regs, u64 cookie)
{
	const union gpu_site_cookie site = {.cookie = cookie};
	const struct gpu_place place = {
		.regs = regs,
		.frame = frame_at_entry(regs, site.pushed),
		.is_entry = 1,
	};
	struct gpu_thread *thread = thread_get(BPF_LOCAL_STORAGE_GET_F_CREATE);

	GPU_ADD(hits);
	if (thread && site.role == GPU_ALLOCATES_CHUNK)
		return chunk_begins(thread, site, &place);
	if (thread && is_inside(thread, place.frame, cookie))
		return 0;
	if (is_launch(site.role)) {
		launched(thread, site, &place);
		return 0;
	}
	if (is_copy(site.role))
		return copy_begins(thread, site, &place);
	if (!thread) {
		GPU_ADD(returns_lost);
		return 0;
	}
	if (!(site.flags & GPU_SITE_RETURNS)) {
		happens(thread, site, &place);
		return 0;
	}
	keep_arguments(thread, cookie, &place);
	return follow(thread, cookie, place.frame);
}

/* What has a name now, or is another handle of what has one. */
static __always_inline void named(const struct gpu_thread *thread, union gpu_site_cookie site)
{
	struct gpu_event event;

	describe(&event, site.role == GPU_NAMES ? GPU_EVENT_NAME : GPU_EVENT_ALIAS,
	         GPU_LAYER_DRIVER, read_u64(thread->first));
	event.time_ns = bpf_ktime_get_ns();
	event.call = site.call;
	if (site.role == GPU_NAMES) {
		tell_name(&event, thread->second);
	} else {
		event.size = thread->second;
		tell((struct gpu_thread *)thread, &event, NULL);
	}
}

/* Behind the return of a function that was followed. */
static __always_inline void call_ends(const volatile struct pt_regs *regs)
{
	struct gpu_thread *thread = thread_get(0);
	u32 result = (u32)REGS_RESULT(regs);
	struct gpu_place place = {.regs = regs};
	union gpu_site_cookie site;
	u64 waited_ns;

	if (!thread)
		return;
	if (!thread->frame || thread->frame != frame_at_end(regs, 0)) {
		if (thread->chunk_frame && thread->chunk_frame == frame_at_end(regs, 0))
			chunk_ends(thread, regs);
		return;
	}
	place.frame = thread->frame;
	site.cookie = thread->site;
	thread->frame = 0;
	if (site.role == GPU_WAITS || is_copy(site.role)) {
		waited_ns = bpf_ktime_get_ns() - thread->began_ns;
		if (site.role != GPU_WAITS && !result)
			copied(thread, site, &place, thread->size, thread->first);
		waited(thread, site, &place, waited_ns);
	} else if (site.role <= GPU_REGISTERS) {
		memory_ends(thread, site, &place, result);
	} else if (result) {
		return;
	} else if (site.role == GPU_FREES) {
		memory_is_freed(thread, site, thread->first, thread->began_ns);
	} else if (site.role == GPU_NAMES || site.role == GPU_NAMES_AGAIN) {
		named(thread, site);
	} else if (site.role == GPU_MAKES_CONTEXT) {
		context_made(thread, site);
	} else if (site.role == GPU_ENDS_CONTEXT) {
		context_ended(thread, site);
	} else if (site.role >= GPU_MAPS && site.role <= GPU_RETAINS) {
		physical_changes(thread, site);
	}
}
