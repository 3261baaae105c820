/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The maps and variables of waits. The linker needs this file before those that use them, so its
 * name comes first.
 */
#include "bpf/wait/wait_open.bpf.h"

const volatile u8 wait_calls[WAIT_SYSCALLS];
u64 wait_ahead_ns;
struct wait_seat_map wait_seats SEC(".maps"), wait_places SEC(".maps");
struct wait_pace_map wait_paces SEC(".maps");
struct wait_taken_map wait_taken SEC(".maps");
struct wait_open_map wait_open SEC(".maps");
struct wait_new_map wait_new SEC(".maps");
