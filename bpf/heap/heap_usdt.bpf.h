/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Static probes of processes that sample their own allocations: otel_memory:alloc(address, size,
 * weight in bytes) and otel_memory:free(address).
 */
#pragma once

#include "bpf/heap/heap_send.bpf.h"
#include "bpf/static_probe.bpf.h"

/* Handles a hit of a probe: of an allocation, or of a free that is about to happen. */
static __always_inline void usdt_passed(const volatile struct pt_regs *regs, u64 cookie, int frees)
{
	u32 number = cookie, slot = HEAP_SLOT_STANDING;
	const struct static_site *site = bpf_map_lookup_elem(&static_sites, &number);
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
		address = static_argument(scratch, &site->args[0]);
		if (frees) {
			if (address)
				send_short(cpu, HEAP_EVENT_FREE, 0, address, now);
		} else {
			size = static_argument(scratch, &site->args[1]);
			weight = static_argument(scratch, &site->args[2]);
			if (address)
				send_walked(cpu, at, scratch->regs[REG_PC], 0, address, size,
				            weight, now);
		}
	}
	lane_leave(at);
}
