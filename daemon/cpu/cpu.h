/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What other files use of the kind of profile `cpu`: whether its timer can be opened, and what to
 * do once it ticks.
 */
#pragma once

#include "bpf/abi.h"

struct source_state;

/* Opens the timer of a CPU and closes it again before it ticks. `ret_event` is the name of its
 * event, also if it cannot be opened. 0 or a negative errno. */
int cpu_timer_try(u32 sample_hz, u32 cpu, const char **ret_event);
/* Call when the first samples are there. From now on the first timer of each CPU ticks no sooner
 * than its other timers. Loop thread. */
void cpu_begun(struct source_state *state);
