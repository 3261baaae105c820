/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Native frames. Each one's caller is found by the unwind table of its executable. Where there is
 * none, it is found by a frame pointer, which is believed only if it leads up the stack to a return
 * address in executable memory. Where that fails too, the walk ends and says why.
 */
#include "bpf/walk/unwind.bpf.h"

#include "bpf/words.h"
#include "bpf/wake.bpf.h"
#include "bpf/walk/return_probe.bpf.h"

#if defined(__TARGET_ARCH_x86)
#include "bpf/walk/frame_x86.bpf.h"
#else
#include "bpf/walk/frame_arm64.bpf.h"
#endif

static __always_inline enum step step_op(struct scratch *scratch, u32 op)
{
	struct walk *walk = &scratch->walk;
	u32 base = op >> OP_BASE_SHIFT;

	if (base == OP_SP || base == OP_FP)
		return step_row(scratch, base == OP_SP ? walk->sp : walk->fp, op);
	if (base == OP_RULE)
		return step_rule(scratch, op & OP_VALUE_MASK);
	switch (op & 0xff) {
	case OP_STOP:
		return STEP_COMPLETE;
	case OP_SIGNAL:
		return step_signal(scratch);
	case OP_PLT:
		return step_plt(scratch, op >> 8 & 0xff);
	}
	return cut(walk, COUNTER_cut_unsupported);
}

/* Goes to the caller by the frame pointer, if that is plausible. Where code keeps frame pointers, 0
 * marks the outermost frame. That is believed in a caller for which no table is available; in a
 * leaf the register may hold any number. */
static __always_inline enum step by_frame_pointer(struct scratch *scratch)
{
	struct walk *walk = &scratch->walk;
	enum counter why = walk->cut;
	u64 fp = walk->fp, caller_fp, ra;

	if (fp == 0 && !walk->leaf && why == COUNTER_cut_no_rows)
		return STEP_COMPLETE;
	/* An unmapped address was no return address. */
	if (why == COUNTER_cut_unmapped && !walk->leaf) {
		walk->len--;
		return STEP_CUT;
	}
	if (fp < walk->sp || fp - walk->sp > MAX_FRAME_BYTES ||
	    read_pair(scratch, fp, &caller_fp, &ra))
		return STEP_CUT;
	ra &= address_mask;
	/* No mapping is known of a process that is not known itself. */
	if (ra && walk->count && ra != walk->trampoline && !find_mapping(walk, ra - 1))
		return STEP_CUT;
	walk->frames_by_pointer++;
	if (walk_to_caller(walk, ra, fp + 2 * sizeof(u64), caller_fp) == STEP_CUT)
		return cut(walk, why);
	return ra ? STEP_CALLER : STEP_COMPLETE;
}

static __always_inline enum step to_caller(struct scratch *scratch)
{
	struct walk *walk = &scratch->walk;
	u32 op;

	if (is_on_trampoline(walk))
		return walk_to_caller(walk, walk->trampoline, walk->sp, walk->fp);
	op = find_op(walk);
	return op == OP_NOTHING ? by_frame_pointer(scratch) : step_op(scratch, op);
}

/* Whether this was the last step of the walk. */
static __always_inline long end(struct scratch *scratch, enum step came_to)
{
	if (came_to == STEP_COMPLETE)
		scratch->walk.cut = COUNTER_walk_complete;
	return came_to != STEP_CALLER;
}

static long step(u32 index, void *context)
{
	struct scratch *scratch = scratch_get(*(const u32 *)context);
	struct native_frame *frame;
	u64 pc;

	if (!scratch)
		return 1;
	if (scratch->walk.len >= MAX_USER_FRAMES) {
		cut(&scratch->walk, COUNTER_cut_truncated);
		return 1;
	}
	/* Pending returns are also looked at one for each iteration. */
	if (is_caller_hidden(&scratch->walk))
		return end(scratch, look_behind_trampoline(&scratch->walk));
	/* Whatever value a signal frame restores must not look like another kind of word. Addresses
	 * in [vsyscall] have all bits of the top byte set. */
	pc = scratch->walk.pc;
	if (pc >> WORD_SHIFT != WORD_KIND >> WORD_SHIFT)
		pc &= WORD_VALUE;
	scratch->frames[scratch->walk.len & (SCRATCH_FRAMES - 1)] = pc;
	frame = &scratch->native[scratch->walk.len++ & (MAX_USER_FRAMES - 1)];
	frame->pc = pc;
	frame->sp = scratch->walk.sp;
	return end(scratch, to_caller(scratch));
}

/* How much of a stack that cannot be walked yet is searched. */
enum { LOOKED_THROUGH_WORDS = 512 };

/* Counts a miss for a word of the stack that may be a return address. */
static long miss_word(u32 index, void *context)
{
	struct scratch *scratch = scratch_get(*(const u32 *)context);
	u64 word;

	if (!scratch || read_word(scratch, scratch->walk.sp + index * sizeof(u64), &word))
		return 1;
	word &= address_mask;
	if (word > PAGE_BYTES && word < user_end)
		miss_table(&scratch->walk, word - 1);
	return 0;
}

/* A walk that ends for lack of a table would also miss the tables of its callers. These misses are
 * counted at once, so that the tables are built together, and not one for each sample. */
static __always_inline void miss_callers(struct scratch *scratch, u32 at)
{
	scratch->walk.sp &= ~(sizeof(u64) - 1);
	bpf_loop(LOOKED_THROUGH_WORDS, miss_word, &at, 0);
}

__noinline u32 unwind_native(u32 at, u64 pc)
{
	struct scratch *scratch = scratch_get(at);
	u32 len;

	if (!scratch)
		return 0;
	__builtin_memset(&scratch->walk, 0, sizeof(scratch->walk));
	walk_from_registers(scratch, pc);
	find_process(&scratch->walk);
	see_through_uprobes(&scratch->walk);
	bpf_loop(MAX_USER_FRAMES + 1 + MAX_PENDING_RETURNS, step, &at, 0);
	if (scratch->walk.cut == COUNTER_cut_pending)
		miss_callers(scratch, at);
	len = scratch->walk.len;
	count(at, COUNTER_frames, len);
	count(at, COUNTER_frames_by_pointer, scratch->walk.frames_by_pointer);
	if (scratch->walk.is_news)
		wake_daemon();
	return len;
}
