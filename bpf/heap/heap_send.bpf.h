/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sends sampled allocations to the daemon, and remembers which addresses were sampled.
 */
#pragma once

#include "bpf/heap/heap_maps.bpf.h"
#include "bpf/send.bpf.h"
#include "bpf/walk/unwind_entry.bpf.h"

#define HEAP_ADD(cpu, what) __sync_fetch_and_add(&(cpu)->counts.what, 1)

/* The daemon reads at fixed times; waking it for each event would slow down the watched process. */
enum { SEND_QUIETLY = BPF_RB_NO_WAKEUP };

static __always_inline void describe(struct heap_event *event, u32 kind, u32 serial, u64 address,
                                     u64 now)
{
	u64 ids = bpf_get_current_pid_tgid();

	event->serial = serial;
	event->kind = kind;
	event->words = 0;
	event->time_ns = now;
	event->address = address;
	event->size = 0;
	event->weight = 0;
	event->pid = ids >> 32;
	event->tid = (u32)ids;
}

/* The ring_user of the current task's account. If the account's share is used up: NULL, and the
 * lost sample is counted. */
static __always_inline struct ring_user *user_with_room(struct heap_cpu *cpu)
{
	struct ring_user *user = ring_user_with_room(&heap_events, &heap_users, HEAP_EVENT_BYTES);

	if (!user)
		HEAP_ADD(cpu, over_share);
	return user;
}

/* Sends an event without a stack, whatever the account's share: for events that are few. */
static __always_inline long send_always(struct heap_cpu *cpu, u32 kind, u32 serial, u64 address,
                                        u64 now)
{
	struct heap_event event;
	long err;

	describe(&event, kind, serial, address, now);
	err = bpf_ringbuf_output(&heap_events, &event, sizeof(event), SEND_QUIETLY);
	if (err)
		HEAP_ADD(cpu, lost);
	return err;
}

static __always_inline void send_short(struct heap_cpu *cpu, u32 kind, u32 serial, u64 address,
                                       u64 now)
{
	struct ring_user *user = user_with_room(cpu);

	if (user && send_always(cpu, kind, serial, address, now) == 0)
		ring_user_charge(&heap_events, user, sizeof(struct heap_event));
}

/* Sends an allocation with the stack of its caller, walked from the registers in the scratch; pc is
 * an address within the leaf's instruction. Returns non-zero when it could not be sent, which is
 * counted. */
static __always_inline long send_walked(struct heap_cpu *cpu, u32 at, u64 pc, u32 serial,
                                        u64 address, u64 size, u64 weight, u64 now)
{
	struct ring_user *user = user_with_room(cpu);
	struct scratch *scratch = scratch_get(at);
	u32 zero = 0, words;
	struct heap_out *out = bpf_map_lookup_elem(&heap_outs, &zero);

	if (!user)
		return -1;
	if (!scratch || !out) {
		HEAP_ADD(cpu, lost);
		return -1;
	}
	words = words_to_send(unwind_stack(at, pc));
	describe(&out->event, HEAP_EVENT_ALLOC, serial, address, now);
	out->event.words = words;
	out->event.size = size;
	out->event.weight = weight;
	if (send_with_words(&heap_events, out, sizeof(out->event), scratch, words, SEND_QUIETLY)) {
		HEAP_ADD(cpu, lost);
		return -1;
	}
	ring_user_charge(&heap_events, user, sizeof(out->event) + words * sizeof(u64));
	return 0;
}

/* Sets the scratch's registers to the caller's. `regs` are those at a return instruction when
 * `at_return`, else those after it. Returns the return address, or 0. */
static __always_inline u64 regs_of_caller(u32 at, const volatile struct pt_regs *regs,
                                          u32 at_return)
{
	struct scratch *scratch = scratch_get(at);
	u64 pc;

	if (!scratch)
		return 0;
	regs_by_number(scratch->regs, regs);
	if (!at_return)
		return scratch->regs[REG_PC];
#if defined(__TARGET_ARCH_x86)
	if (bpf_probe_read_user(&pc, sizeof(pc), (void *)scratch->regs[REG_SP]))
		return 0;
	scratch->regs[REG_SP] += sizeof(u64);
#else
	pc = scratch->regs[30];
#endif
	return pc;
}

/* Whether the session may have one more live address: each session may have as many as are left for
 * all others. */
static __always_inline int has_live_room(const struct heap_target *target)
{
	u64 taken = 0;

	for (u32 slot = 0; slot < HEAP_SESSIONS; slot++) {
		u32 at = slot;
		const struct heap_target *one = bpf_map_lookup_elem(&heap_targets, &at);

		if (one)
			taken += one->live;
	}
	return target->live + taken < HEAP_LIVE;
}

enum { ALREADY_THERE = -17 }; /* -EEXIST */

/* Adds a live address. Returns non-zero when there is no room, which is counted. An address that is
 * there already was freed unseen. */
static __always_inline long live_add(struct heap_cpu *cpu, struct heap_target *target, u64 address)
{
	struct heap_live_key key = {.address = address, .serial = target->serial};
	u8 live = 1;
	long err = bpf_map_update_elem(&heap_live, &key, &live, BPF_NOEXIST);

	if (err == ALREADY_THERE)
		return 0;
	if (err)
		HEAP_ADD(cpu, full);
	else
		__sync_fetch_and_add(&target->live, 1);
	return err;
}

/* Removes a live address; whether the address was sampled and live until now. */
static __always_inline int take_live(struct heap_target *target, u64 address)
{
	struct heap_live_key key = {.address = address, .serial = target->serial};

	if (bpf_map_delete_elem(&heap_live, &key))
		return 0;
	__sync_fetch_and_add(&target->live, -1);
	return 1;
}

static __always_inline void tell_allocated(struct heap_cpu *cpu,
                                           const volatile struct pt_regs *regs, u32 at_return,
                                           struct heap_target *target, u64 address, u64 size)
{
	u64 now = bpf_ktime_get_ns();
	u32 at;
	u64 pc;

	if (!has_live_room(target)) {
		HEAP_ADD(cpu, full);
		return;
	}
	at = lane_enter(LANE_PROBE, now);

	if (at == LANE_BUSY) {
		HEAP_ADD(cpu, busy);
		return;
	}
	pc = regs_of_caller(at, regs, at_return);
	/* The address is added first: once the function has returned, another thread may free
	 * it. */
	if (!pc)
		HEAP_ADD(cpu, lost);
	else if (live_add(cpu, target, address) == 0 &&
	         send_walked(cpu, at, pc - 1, target->serial, address, size, 0, now))
		take_live(target, address);
	lane_leave(at);
}
