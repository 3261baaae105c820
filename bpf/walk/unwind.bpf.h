/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From registers to a stack id, and from there to a tally. These are global functions: the verifier
 * checks each once, alone, whatever calls it. They share data through the scratch of a lane of this
 * CPU, so only scalars are passed; `at` is from lane_enter().
 */
#pragma once

#include "bpf/maps.bpf.h"

/* Walks the user stack of the current task from the registers in scratch->regs into
 * scratch->frames. Returns the number of words (bpf/words.h describes words). `pc` is an address
 * within the first frame's instruction. Counts how the walk ended; where the stack is truncated, a
 * last word says why. */
u32 unwind_stack(u32 at, u64 pc);

/* Parts of unwind_stack(). Walks the native frames into scratch->frames and scratch->native and
 * returns their number. scratch->walk.cut says how the walk ended. */
u32 unwind_native(u32 at, u64 pc);
/* unwind_NAME() of each runtime: puts the interpreted frames of the current thread among the native
 * ones; returns the resulting number of words, 0 if the thread has no such frames. */
#define RUNTIME(name) u32 unwind_##name(u32 at);
RUNTIMES(RUNTIME)
#undef RUNTIME

/* Stores the first `len` scratch frames in the half's stack map; returns the stack's id. */
u64 stack_store(u32 at, u32 len);
/* Parts of stack_store(): move the outermost remaining frames into the scratch's node; find the
 * place where a new node would be counted; put a node into the map. */
u64 stack_node(u32 at, u64 parent, u32 len);
u32 stack_place(u32 at);
u32 stack_put(u32 at, u64 key);

/* The id of the current task's user stack, from its user-space registers in scratch->regs, or from
 * those saved when it entered the kernel; STACK_NONE where it has not entered from user space. */
u64 unwind_user(u32 at, u32 compat);
u64 unwind_entry(u32 at);

/* Adds to the tally of the current task and these stacks; `what` is an enum profile_kind, with a
 * detail above KIND_DETAIL_SHIFT. Returns non-zero when that was not possible, which is counted. */
u32 tally_add(u32 at, u32 what, u64 kernel_stack, u64 user_stack, u64 value);
/* The same for scratch->key: adds so many samples, the latest at this time. 0: a part of a wait
 * whose sample is counted with another part. */
u32 tally_put(u32 at, u64 samples, u64 value, u64 last_ns);
