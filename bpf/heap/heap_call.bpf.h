/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A call of an allocator: at its entry, whether it is sampled; at its end, which address it
 * returned. Most calls are neither sampled nor followed to their end, and are done after look-ups
 * in two maps.
 */
#pragma once

#include "bpf/call.bpf.h"
#include "bpf/heap/heap_send.bpf.h"

static __always_inline struct heap_thread *thread_get(u64 flags)
{
	return bpf_task_storage_get(&heap_threads, bpf_get_current_task_btf(), NULL, flags);
}

/* The target of a slot; NULL where the current process is not the one watched. */
static __always_inline struct heap_target *target_get(u32 slot)
{
	struct heap_target *target = bpf_map_lookup_elem(&heap_targets, &slot);

	return target && target->pid == bpf_get_current_pid_tgid() >> 32 ? target : NULL;
}

static __always_inline void count_hit(struct heap_cpu *cpu, union heap_site_cookie site)
{
	if (site.flags & HEAP_SITE_STEPPED)
		HEAP_ADD(cpu, stepped);
	else
		HEAP_ADD(cpu, emulated);
	if (site.flags & HEAP_SITE_RETURNS)
		HEAP_ADD(cpu, returns);
	if (site.flags & HEAP_SITE_THROWS)
		HEAP_ADD(cpu, stepped); /* at its return instruction */
}

/* The size asked for; all ones where it overflows: such a call fails. */
static __always_inline u64 size_asked(const volatile struct pt_regs *regs,
                                      union heap_site_cookie site)
{
	u64 size = argument(regs, site.size), times;

	if (site.times == HEAP_NO_ARGUMENT)
		return size;
	times = argument(regs, site.times);
	if ((size >> 32 && times >> 32) || (size >> 32) * times >> 32 || (times >> 32) * size >> 32)
		return ~0ULL;
	return size * times;
}

/* Whether the next sample lies in these bytes. The countdown is per CPU: it makes no difference to
 * which process or thread the bytes belong. */
static __always_inline int is_sampled(struct heap_cpu *cpu, const struct heap_target *target,
                                      u64 size)
{
	if (cpu->serial != target->serial) {
		cpu->serial = target->serial;
		cpu->remaining = heap_next(target->rate);
	}
	if (size <= cpu->remaining) {
		cpu->remaining -= size;
		return 0;
	}
	cpu->remaining = heap_next(target->rate);
	return 1;
}

/* Whether the thread is inside of another call that nests. An outer call that lies deeper on the
 * stack than this one has ended unseen. So has one at the same place, unless it has ended in a jump
 * to this function. */
static __always_inline int is_inside(const struct heap_thread *thread, u32 serial, u64 frame,
                                     u64 cookie)
{
	const union heap_site_cookie outer = {.cookie = thread->site};

	if (!thread->frame || thread->serial != serial || !(outer.flags & HEAP_SITE_NESTS))
		return 0;
	return frame < thread->frame || (frame == thread->frame && cookie != thread->site);
}

static __always_inline void call_frees(struct heap_cpu *cpu, struct heap_target *target,
                                       const volatile struct pt_regs *regs,
                                       union heap_site_cookie site)
{
	u64 address = argument(regs, site.pointer);

	/* Inside of a realloc the old address is not in the map: it was removed at the
	 * beginning. */
	if (address && take_live(target, address))
		send_short(cpu, HEAP_EVENT_FREE, target->serial, address, bpf_ktime_get_ns());
}

/* Counts a sampled call whose end was not seen, and which no exception can have ended. */
static __always_inline void note_unseen(struct heap_cpu *cpu, const struct heap_thread *thread,
                                        u32 serial)
{
	const union heap_site_cookie site = {.cookie = thread->site};

	if (thread->frame && thread->sampled && thread->serial == serial &&
	    !(site.flags & HEAP_SITE_THROWS))
		HEAP_ADD(cpu, pending);
}

enum { MAP_PROTECTION = 2, MAP_FLAGS = 3 }; /* argument numbers */

/* mmap(2): MAP_ANONYMOUS and MAP_NORESERVE. */
enum { MAP_IS_MEMORY = 0x20, MAP_IS_RESERVED = 0x4000 };

/* Whether a call of mmap() gets memory that is accounted for nowhere else: neither a file, nor
 * address space for later use, nor memory that an allocator hands out. */
static __always_inline int maps_memory(const volatile struct pt_regs *regs,
                                       union heap_site_cookie site,
                                       const struct heap_target *target)
{
	u64 flags = argument(regs, MAP_FLAGS), caller;

	if (!(flags & MAP_IS_MEMORY) || flags & MAP_IS_RESERVED || !argument(regs, MAP_PROTECTION))
		return 0;
	caller = caller_at_entry(regs, frame_at_entry(regs, site.pushed));
#pragma unroll
	for (u32 i = 0; i < HEAP_RANGES; i++)
		if (caller >= target->allocators[i].start && caller < target->allocators[i].end)
			return 0;
	return caller != 0;
}

/* Whether a call that maps or moves pages counts and is sampled. */
static __always_inline int is_page_sampled(struct heap_cpu *cpu, const struct heap_target *target,
                                           const volatile struct pt_regs *regs,
                                           union heap_site_cookie site, u64 size)
{
	struct heap_live_key key = {.address = argument(regs, site.pointer),
	                            .serial = target->serial};

	if (site.does == HEAP_DOES_MAP)
		return maps_memory(regs, site, target) && is_sampled(cpu, target, size);
	return bpf_map_lookup_elem(&heap_live, &key) != NULL;
}

static __always_inline int is_of_pages(union heap_site_cookie site)
{
	return site.does == HEAP_DOES_MAP || site.does == HEAP_DOES_REMAP;
}

/* At the entry of a function; 1 when its return is wanted. */
static __always_inline u32 call_begins(const volatile struct pt_regs *regs, u64 cookie)
{
	const union heap_site_cookie site = {.cookie = cookie};
	u32 slot = site.slot, sampled = 0;
	struct heap_target *target = target_get(slot);
	struct heap_cpu *cpu = bpf_map_lookup_elem(&heap_cpus, &slot);
	struct heap_thread *thread;
	u64 size, frame;

	if (!target || !cpu)
		return 0;
	count_hit(cpu, site);
	if (site.does == HEAP_DOES_FREE) {
		call_frees(cpu, target, regs, site);
		return 0;
	}
	size = size_asked(regs, site);
	if (is_of_pages(site))
		sampled = is_page_sampled(cpu, target, regs, site, size);
	else
		sampled = is_sampled(cpu, target, size);
	if (!sampled && !(site.flags & (HEAP_SITE_NESTS | HEAP_SITE_THROWS)))
		return 0;
	thread = thread_get(BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread) {
		if (sampled)
			HEAP_ADD(cpu, pending);
		return 0;
	}
	frame = frame_at_entry(regs, site.pushed);
	if (is_inside(thread, target->serial, frame, cookie))
		return 0;
	note_unseen(cpu, thread, target->serial);
	thread->frame = 0;
	if (!sampled && !(site.flags & HEAP_SITE_NESTS))
		return 0;
	thread->frame = frame;
	thread->site = cookie;
	thread->size = size;
	thread->sampled = sampled;
	thread->serial = target->serial;
	thread->pointer = argument(regs, site.pointer);
	thread->freed_ns = 0;
	if ((site.does == HEAP_DOES_REALLOCATE || site.does == HEAP_DOES_REMAP) &&
	    thread->pointer && take_live(target, thread->pointer))
		thread->freed_ns = bpf_ktime_get_ns();
	return 1;
}

/* The address that a call has returned, 0 for none. */
static __always_inline u64 address_given(const volatile struct pt_regs *regs,
                                         union heap_site_cookie site, u64 out)
{
	u64 address = 0;

	if (is_of_pages(site) && REGS_RESULT(regs) == ~0ULL)
		return 0;
	if (site.does != HEAP_DOES_ALLOCATE_OUT)
		return REGS_RESULT(regs);
	if ((u32)REGS_RESULT(regs) == 0)
		bpf_probe_read_user(&address, sizeof(address), (void *)out);
	return address;
}

static __always_inline void call_ends(const volatile struct pt_regs *regs, u64 cookie,
                                      u32 at_return)
{
	u32 slot = ((union heap_site_cookie){.cookie = cookie}).slot;
	struct heap_target *target = target_get(slot);
	struct heap_cpu *cpu = bpf_map_lookup_elem(&heap_cpus, &slot);
	struct heap_thread *thread, call;
	union heap_site_cookie site;
	u64 address;

	if (!target || !cpu)
		return;
	thread = thread_get(0);
	if (!thread || thread->serial != target->serial ||
	    thread->frame != frame_at_end(regs, at_return) || !thread->frame)
		return;
	call = *thread;
	site.cookie = call.site;
	/* A function with a return probe may end in a jump to a function with probes at its return
	 * instructions, and this is one of these. The return probe is still to come: the return
	 * address here is only its trampoline. */
	if (at_return && !(site.flags & HEAP_SITE_THROWS))
		return;
	thread->frame = 0;
	address = address_given(regs, site, call.pointer);
	if (call.freed_ns) {
		/* If the realloc failed, nothing was freed. With size 0 it is another way to
		 * free. */
		if (!address && call.size)
			live_add(cpu, target, call.pointer);
		else
			send_short(cpu, HEAP_EVENT_FREE, target->serial, call.pointer,
			           call.freed_ns);
	}
	/* The new mapping replaces what was there. */
	if (address && site.does == HEAP_DOES_MAP && take_live(target, address))
		send_short(cpu, HEAP_EVENT_FREE, target->serial, address, bpf_ktime_get_ns());
	if (address && call.sampled)
		tell_allocated(cpu, regs, at_return, target, address, call.size);
}
