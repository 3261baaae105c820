/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Telling the daemon of sampled allocations, and remembering which addresses were.
 */
#pragma once

#include "bpf/heap_maps.bpf.h"
#include "bpf/send.bpf.h"
#include "bpf/unwind_entry.bpf.h"

#define HEAP_ADD(cpu, what) __sync_fetch_and_add(&(cpu)->counts.what, 1)

/* The daemon reads by the clock; waking it for each would cost the watched process. */
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

/* An event without a stack. */
static __always_inline void send_short(struct heap_cpu *cpu, u32 kind, u32 serial, u64 address,
                                       u64 now)
{
	struct heap_event event;

	describe(&event, kind, serial, address, now);
	if (bpf_ringbuf_output(&heap_events, &event, sizeof(event), SEND_QUIETLY))
		HEAP_ADD(cpu, lost);
}

/* An allocation with the stack of who asked for it, walked from the registers in the scratch; pc is
 * an address within the leaf's instruction. Not 0 when it could not be told. */
static __always_inline long send_walked(u32 at, u64 pc, u32 serial, u64 address, u64 size,
                                        u64 weight, u64 now)
{
	struct scratch *scratch = scratch_get(at);
	u32 zero = 0, words;
	struct heap_out *out = bpf_map_lookup_elem(&heap_outs, &zero);

	if (!scratch || !out)
		return -1;
	words = words_to_send(unwind_stack(at, pc));
	describe(&out->event, HEAP_EVENT_ALLOC, serial, address, now);
	out->event.words = words;
	out->event.size = size;
	out->event.weight = weight;
	return send_with_words(&heap_events, out, sizeof(out->event), scratch, words, SEND_QUIETLY);
}

/* Sets the scratch's registers to the caller's. `regs` are those at a return instruction when
 * `at_return`, else those after it. The return address, or 0. */
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

static __always_inline void tell_allocated(struct heap_cpu *cpu,
                                           const volatile struct pt_regs *regs, u32 at_return,
                                           u32 serial, u64 address, u64 size)
{
	struct heap_live_key key = {.address = address, .serial = serial};
	u64 now = bpf_ktime_get_ns();
	u32 at = lane_enter(LANE_PROBE, now);
	u64 pc;
	u8 live = 1;

	if (at == LANE_BUSY) {
		HEAP_ADD(cpu, busy);
		return;
	}
	pc = regs_of_caller(at, regs, at_return);
	/* First the address: once the function has returned, another thread may free it. */
	if (bpf_map_update_elem(&heap_live, &key, &live, BPF_ANY)) {
		HEAP_ADD(cpu, full);
	} else if (!pc || send_walked(at, pc - 1, serial, address, size, 0, now)) {
		bpf_map_delete_elem(&heap_live, &key);
		HEAP_ADD(cpu, lost);
	}
	lane_leave(at);
}

/* Whether the address was sampled and is live no more from now on. */
static __always_inline int take_live(u32 serial, u64 address)
{
	struct heap_live_key key = {.address = address, .serial = serial};

	return bpf_map_delete_elem(&heap_live, &key) == 0;
}

static __always_inline void put_back(struct heap_cpu *cpu, u32 serial, u64 address)
{
	struct heap_live_key key = {.address = address, .serial = serial};
	u8 live = 1;

	if (bpf_map_update_elem(&heap_live, &key, &live, BPF_ANY))
		HEAP_ADD(cpu, full);
}
