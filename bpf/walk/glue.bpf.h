/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Glue: the kernel's frames between a tracepoint and a BPF program that runs there. After the
 * program and bpf_trace_run*() come up to two more, which depends on how the kernel was compiled
 * (the first may be a tail call) and on how many programs, of whoever, are attached to the
 * tracepoint (for one alone the second is left out). So these are found by their addresses, which
 * glue_find looks up when the programs that need them are loaded. Where none can be found
 * (kernel.kptr_restrict = 2), one frame is taken for glue, as on most kernels.
 */
#pragma once

#include "bpf/abi.h"

#include <bpf/bpf_helpers.h>

/* GLUE(tracepoint, class) of the tracepoints where kernel stacks are walked. */
#define GLUE_LIST(GLUE)                           \
	GLUE(sched_switch, sched_switch)          \
	GLUE(sched_waking, sched_wakeup_template) \
	GLUE(block_bio_queue, block_bio)

enum {
	GLUE_SYMBOLS = 6,
	GLUE_BYTES = 128, /* each is a call or a loop around one */
	GLUE_FRAMES = 2,
	PROGRAM_FRAMES = 2, /* of the program and bpf_trace_run*() */
};

extern u64 glue_starts[GLUE_SYMBOLS]; /* 0: there is no such function, or it is not known */
extern u64 glue_is_known;

static __always_inline int is_glue(u64 pc)
{
	for (u32 i = 0; i < GLUE_SYMBOLS; i++)
		if (pc - glue_starts[i] < GLUE_BYTES)
			return 1;
	return 0;
}

/* How many of the innermost frames are glue. */
static __always_inline u32 glue_frames(const u64 *frames)
{
	if (!glue_is_known)
		return 1;
	if (!is_glue(frames[0]))
		return 0;
	return is_glue(frames[1]) ? 2 : 1;
}
