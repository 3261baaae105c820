/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The slot by which the walker knows a process, in the hash table of bpf/unwind_table.h.
 */
#pragma once

#include "bpf/maps.bpf.h"

/* NULL when the process is not known. `ret_value` receives the value that the slot had then; it may
 * change at any time. */
static __always_inline u64 *slot_of(u32 pid, u64 *ret_value)
{
	u32 bucket = (pid * SLOTS_PER_BUCKET) & (slot_count - 1);

	for (u32 i = 0; i < SLOTS_PER_BUCKET; i++) {
		u32 at = bucket + i;
		u64 *slot = bpf_map_lookup_elem(&unwind_slots, &at);

		*ret_value = slot ? *(volatile u64 *)slot : 0;
		if (slot && *ret_value >> SLOT_PID_SHIFT == pid)
			return slot;
	}
	*ret_value = 0;
	return NULL;
}
