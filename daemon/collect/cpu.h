/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the kind of profile `cpu` shows to others: whether its timer is to be had, and what is done
 * once it ticks.
 */
#pragma once

#include "bpf/abi.h"

struct source_state;

/* Opens the timer of a CPU and closes it again; it has not ticked. `ret_event` says which it would
 * be, also where it cannot be opened. */
int cpu_timer_try(u32 sample_hz, u32 cpu, const char **ret_event);
/* The first samples are there: from now on the first of a CPU's timers ticks no sooner than the
 * others. Loop thread. */
void cpu_begun(struct source_state *state);
