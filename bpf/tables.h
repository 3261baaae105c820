/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The lists that both halves expand. A list is written once: enum, names, help texts, Prometheus
 * metrics and /status are all made from these lines.
 */
#pragma once

/* Where samples come from; each has bpf/NAME.bpf.c and daemon/collect/NAME.c. */
#define PROFILE_KINDS(KIND) KIND(cpu)

/* What the kernel half counts. ticks = samples + idle + tallies_lost, always. */
#define COUNTERS(COUNTER)                                                                        \
	COUNTER(ticks, "Sampling timer ticks seen")                                              \
	COUNTER(ticks_missed,                                                                    \
	        "Timer periods without a tick: an idle CPU asleep, stolen time, interrupts off") \
	COUNTER(idle, "Ticks that found the idle task; counted, not recorded")                   \
	COUNTER(samples, "Samples recorded")                                                     \
	COUNTER(tallies_lost, "Samples lost because the tally map was full")                     \
	COUNTER(stacks_lost,                                                                     \
	        "Samples recorded without their stack because the stack map was full")           \
	COUNTER(kernel_stack_failed, "Kernel stacks that could not be taken")                    \
	COUNTER(frames, "User frames walked")                                                    \
	COUNTER(walk_complete, "User stack walks that ended at a zero frame pointer")            \
	COUNTER(walk_bad_frame,                                                                  \
	        "User stack walks that ended at a frame pointer that cannot be one")             \
	COUNTER(walk_unreadable, "User stack walks cut short by memory that could not be read")  \
	COUNTER(walk_truncated, "User stack walks cut short at the frame limit")                 \
	COUNTER(walk_compat, "32-bit processes' samples, recorded with their first frame only")
