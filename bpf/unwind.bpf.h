/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From registers to a stack id, and from there to a tally. These are global functions: the verifier
 * checks each once, alone, whoever calls it. They talk through the scratch of a lane of this CPU,
 * so only scalars are passed; `at` is from lane_enter().
 */
#pragma once

#include "bpf/maps.bpf.h"

/* Walks the user stack of the current task from the registers in scratch->regs into
 * scratch->frames; how many words (bpf/python.h says what words are). `pc` is an address within the
 * first one's instruction. Counts how it ended, and says so in a last word where the stack is not
 * whole. */
u32 unwind_stack(u32 at, u64 pc);

/* Its parts. The native frames, into scratch->frames and scratch->native; how many. How it ended is
 * in scratch->walk.cut. */
u32 unwind_native(u32 at, u64 pc);
/* Puts the frames of a Python that runs in this process among them; how many words there are then.
 * In scratch->gil is what the thread has of the GIL. */
u32 unwind_python(u32 at);
/* Tells the daemon of the code object that this is at; 0 when all of it could be told. */
u32 python_tell(u32 at);
/* Tells it of the thread, if it was not told lately; 1 when it was now. */
u32 python_tell_thread(u32 at, u64 now);

/* Keeps the first `len` scratch frames in the half's stack map; the stack's id. */
u64 stack_store(u32 at, u32 len);
/* Its parts: moving the outermost frames that are left into the scratch's node, where a new node
 * would be counted, and putting one into the map. */
u64 stack_node(u32 at, u64 parent, u32 len);
u32 stack_place(u32 at);
u32 stack_put(u32 at, u64 key);

/* The id of the current task's user stack: given the registers it had in user space in
 * scratch->regs, or those it had when it entered the kernel; STACK_NONE where it did not. */
u64 unwind_user(u32 at, u32 compat);
u64 unwind_entry(u32 at);

/* Adds to the tally of the current task and these stacks; `what` is an enum profile_kind, and a
 * detail above KIND_DETAIL_SHIFT. Not 0 when that could not be done, and was counted. */
u32 tally_add(u32 at, u32 what, u64 kernel_stack, u64 user_stack, u64 value);
