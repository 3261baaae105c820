/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A call of a probed function from its entry to its return: what is done for each role. A call made
 * inside of one whose return is wanted is part of that one.
 */
#pragma once

#include "bpf/gpu/gpu_chunk.bpf.h"
#include "bpf/gpu/gpu_counted.bpf.h"

/* Whether the thread is inside of another call. An outer call that lies deeper on the stack than
 * this one has ended unseen. So has one at the same place, unless it has ended in a jump to this
 * function. */
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

/* Waits for the return of the call. */
static __always_inline u32 follow(struct gpu_thread *thread, u64 cookie, u64 frame)
{
	GPU_ADD(returns);
	thread->site = cookie;
	thread->frame = frame;
	return 1;
}

/* Roles for which the entry is enough; 1 when there is an event to send. */
static __always_inline int role_happens(struct gpu_thread *thread, union gpu_site_cookie site,
                                        const struct gpu_place *place, struct gpu_event *ret_event)
{
	const volatile struct pt_regs *regs = place->regs;

	switch (site.role) {
	case GPU_SETS_CONTEXT:
		context_set(thread, argument(regs, site.a));
		return 0;
	case GPU_PUSHES_CONTEXT:
		context_push(thread, argument(regs, site.a));
		return 0;
	case GPU_POPS_CONTEXT:
		context_pop(thread);
		return 0;
	case GPU_TAGS:
		tag(thread, regs, site, place->frame);
		return 0;
	case GPU_REPORTS:
		return tensor_reported(site, regs, ret_event);
	case GPU_REPORTS_OOM:
		return tensor_oom(site, regs, ret_event);
	case GPU_ALLOCATES_TENSOR:
	case GPU_FREES_TENSOR:
		return tensor_changes(site, regs, ret_event);
	case GPU_FREES:
		/* There is no return probe to say whether the call succeeded. */
		return memory_is_freed(site, argument_any(regs, place->frame, site.a), 0,
		                       ret_event);
	}
	return 0;
}

static __always_inline int is_launch(u8 role)
{
	return role == GPU_LAUNCHES || role == GPU_LAUNCHES_BY_CONFIG || role == GPU_LAUNCHES_GRAPH;
}

static __always_inline int is_copy(u8 role)
{
	return role >= GPU_COPIES && role <= GPU_SETS_2D;
}

/* Keeps the arguments that the return will need, for memory, names and contexts. The handle of
 * mapped memory is the second argument behind its size. Not inline, as array_bytes(). */
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

/* Whether a copy is kept until its return, because the call waits for the copy. */
static __always_inline int copy_is_kept(struct gpu_thread *thread, union gpu_site_cookie site,
                                        const struct gpu_copied *what)
{
	if (!thread || !(site.flags & GPU_SITE_BLOCKS) || !(site.flags & GPU_SITE_RETURNS))
		return 0;
	thread->size = what->bytes;
	thread->first = what->direction;
	thread->began_ns = bpf_ktime_get_ns();
	return 1;
}

/* Counts a launch or a copy; 1 when it is counted at its return instead. */
static __always_inline u32 count_begins(struct gpu_thread *thread, union gpu_site_cookie site,
                                        const struct gpu_place *place)
{
	struct gpu_copied what = {.bytes = 1};
	struct gpu_call_key key;

	if (is_launch(site.role)) {
		launch_key(&key, thread, site, place->regs);
	} else {
		read_copied(site.cookie, place, &what);
		if (copy_is_kept(thread, site, &what))
			return follow(thread, site.cookie, place->frame);
		copy_key(&key, thread, site, place->frame, what.direction);
	}
	count_call(thread, &key, what.bytes, place);
	return 0;
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
	struct gpu_event event;

	GPU_ADD(hits);
	if (thread && site.role == GPU_ALLOCATES_CHUNK)
		return chunk_begins(thread, site, &place);
	if (thread && is_inside(thread, place.frame, cookie))
		return 0;
	if (is_launch(site.role) || is_copy(site.role))
		return count_begins(thread, site, &place);
	if (!thread) {
		GPU_ADD(returns_lost);
		return 0;
	}
	if (!(site.flags & GPU_SITE_RETURNS)) {
		if (role_happens(thread, site, &place, &event))
			tell(thread, &event, &place);
		return 0;
	}
	keep_arguments(thread, cookie, &place);
	return follow(thread, cookie, place.frame);
}

/* An object has been given a name, which is sent with it, or is another handle of one that has a
 * name. */
static __always_inline int named(const struct gpu_thread *thread, union gpu_site_cookie site,
                                 struct gpu_event *ret_event)
{
	int is_alias = site.role == GPU_NAMES_AGAIN;

	describe(ret_event, is_alias ? GPU_EVENT_ALIAS : GPU_EVENT_NAME, GPU_LAYER_DRIVER,
	         read_u64(thread->first));
	ret_event->call = site.call;
	if (is_alias) {
		ret_event->size = thread->second;
	} else {
		ret_event->time_ns = bpf_ktime_get_ns();
		tell_name(ret_event, thread->second);
	}
	return is_alias;
}

/* The end of a wait, or of a copy for which the call waited. */
static __always_inline void wait_ends(struct gpu_thread *thread, union gpu_site_cookie site,
                                      const struct gpu_place *place, u32 result)
{
	u64 waited_ns = bpf_ktime_get_ns() - thread->began_ns;
	struct gpu_call_key key;

	if (site.role != GPU_WAITS && !result) {
		copy_key(&key, thread, site, place->frame, thread->first);
		count_call(thread, &key, thread->size, place);
	}
	wait_key(&key, thread, site, place->frame);
	count_call(thread, &key, waited_ns, place);
}

/* The end of all other roles that are followed; 1 when there is an event to send. */
static __always_inline int role_ends(struct gpu_thread *thread, union gpu_site_cookie site,
                                     u64 frame, u32 result, struct gpu_event *ret_event)
{
	if (site.role <= GPU_REGISTERS)
		return memory_ends(thread, site, frame, result, ret_event);
	if (result)
		return 0;
	switch (site.role) {
	case GPU_FREES:
		return memory_is_freed(site, thread->first, thread->began_ns, ret_event);
	case GPU_NAMES:
	case GPU_NAMES_AGAIN:
		return named(thread, site, ret_event);
	case GPU_MAKES_CONTEXT:
		return context_made(thread, site, ret_event);
	case GPU_ENDS_CONTEXT:
		return context_ended(thread, site, ret_event);
	case GPU_MAPS:
	case GPU_UNMAPS:
	case GPU_RETAINS:
		return physical_changes(thread, site, ret_event);
	}
	return 0;
}

/* The end of a call that may have an event to send. A function, so that the event does not take up
 * the stack beside what wait_ends() has there. */
static __always_inline void event_ends(struct gpu_thread *thread, union gpu_site_cookie site,
                                       const struct gpu_place *place, int is_chunk)
{
	u64 result = REGS_RESULT(place->regs);
	struct gpu_event event;

	if (is_chunk ? chunk_ends(thread, result, &event)
	             : role_ends(thread, site, place->frame, (u32)result, &event))
		tell(thread, &event, place);
}

/* Behind the return of a call that was followed. */
static __always_inline void call_ends(const volatile struct pt_regs *regs)
{
	struct gpu_thread *thread = thread_get(0);
	const struct gpu_place place = {.regs = regs, .frame = frame_at_end(regs, 0)};
	union gpu_site_cookie site = {0};
	int is_chunk;

	if (!thread)
		return;
	is_chunk = !thread->frame || thread->frame != place.frame;
	if (is_chunk && (!thread->chunk_frame || thread->chunk_frame != place.frame))
		return;
	if (!is_chunk) {
		site.cookie = thread->site;
		thread->frame = 0;
	}
	if (!is_chunk && (site.role == GPU_WAITS || is_copy(site.role)))
		wait_ends(thread, site, &place, (u32)REGS_RESULT(regs));
	else
		event_ends(thread, site, &place, is_chunk);
}
