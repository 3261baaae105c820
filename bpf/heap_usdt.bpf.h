/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Static probes of processes that sample their own allocations: their arguments, from where the
 * probe's note says that they are.
 */
#pragma once

#include "bpf/heap_send.bpf.h"

/* 0 for what is no register. */
static __always_inline u64 usdt_register(const struct scratch *scratch, u8 number)
{
	return number < MAX_REGS ? scratch->regs[number] : 0;
}

static __always_inline u64 usdt_memory(const struct scratch *scratch,
                                       const struct heap_usdt_arg *arg, u64 bytes)
{
	u64 at = usdt_register(scratch, arg->base) + arg->value, value = 0;

	if (arg->index != HEAP_USDT_NO_REGISTER)
		at += usdt_register(scratch, arg->index) * arg->scale;
	barrier_var(bytes);
	if (bytes > sizeof(value) || bpf_probe_read_user(&value, bytes, (void *)at))
		return 0;
	return value;
}

static __always_inline u64 usdt_argument(const struct scratch *scratch,
                                         const struct heap_usdt_arg *arg)
{
	u64 value = arg->value;
	u32 unused = (64 - arg->bytes * 8) & 63;

	if (arg->place == HEAP_USDT_REGISTER)
		value = usdt_register(scratch, arg->base) >> (arg->shift & 63);
	else if (arg->place == HEAP_USDT_MEMORY)
		value = usdt_memory(scratch, arg, arg->bytes);
	value <<= unused;
	return arg->is_signed ? (u64)((s64)value >> unused) : value >> unused;
}

/* A probe was passed: of an allocation, or of what is about to be freed. */
static __always_inline void usdt_passed(const volatile struct pt_regs *regs, u64 cookie, int frees)
{
	u32 number = cookie, slot = HEAP_SLOT_STANDING;
	const struct heap_usdt_site *site = bpf_map_lookup_elem(&heap_usdt_sites, &number);
	struct heap_cpu *cpu = bpf_map_lookup_elem(&heap_cpus, &slot);
	u64 now = bpf_ktime_get_ns(), address, size, weight;
	struct scratch *scratch;
	u32 at;

	if (!site || !cpu)
		return;
	at = lane_enter(LANE_PROBE, now);
	if (at == LANE_BUSY) {
		HEAP_ADD(cpu, busy);
		return;
	}
	scratch = scratch_get(at);
	if (scratch) {
		regs_by_number(scratch->regs, regs);
		address = usdt_argument(scratch, &site->args[0]);
		if (frees) {
			if (address)
				send_short(cpu, HEAP_EVENT_FREE, 0, address, now);
		} else {
			size = usdt_argument(scratch, &site->args[1]);
			weight = usdt_argument(scratch, &site->args[2]);
			if (address &&
			    send_walked(at, scratch->regs[REG_PC], 0, address, size, weight, now))
				HEAP_ADD(cpu, lost);
		}
	}
	lane_leave(at);
}
