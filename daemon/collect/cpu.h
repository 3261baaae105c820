/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the kind of profile `cpu` shows to others: whether its timer is to be had, and whether what
 * makes it exact is worth its price.
 */
#pragma once

#include "bpf/abi.h"

struct bpf;
struct source_state;

/* Opens the timer of a CPU and closes it again; it has not ticked. `ret_event` says which it would
 * be, also where it cannot be opened. */
int cpu_timer_try(u32 sample_hz, u32 cpu, const char **ret_event);

/* After each drain, with its COUNTER_ticks_turned: attaches the program that takes late ticks at
 * the scheduler's switches, or takes it away. */
void cpu_watch_switches(struct bpf *bpf, struct source_state *state, u64 turned, u64 now_ns);
