/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct walk - where a native walk stands: the frame it is at, and what it remembers to be fast.
 * It lives in this CPU's scratch. The stack is copied a page at a time, because reading user memory
 * costs per call, not per byte.
 */
#pragma once

#include "bpf/regs.bpf.h"

enum {
	PAGE_BYTES = 4096,
	PAGE_WORDS = PAGE_BYTES / sizeof(u64),
	MAX_FRAME_BYTES =
		8 << 20, /* the default stack limit: frames found by pointer are smaller */
};

static const u64 user_end = 1ULL << 56; /* user addresses lie below it on every paging mode */

/* arm64 may sign return addresses in the bits that an address does not use: as almost every kernel
 * is configured, those above 48. */
#if defined(__TARGET_ARCH_arm64)
static const u64 address_mask = (1ULL << 48) - 1;
#else
static const u64 address_mask = ~0ULL;
#endif

/* What a step came to. */
enum step {
	STEP_CALLER,   /* the walk stands at the caller now */
	STEP_COMPLETE, /* there is none: the stack is whole */
	STEP_CUT,      /* walk->cut says why it cannot go on */
};

/* Reads a word of the walked stack. */
static __always_inline int read_word(struct scratch *scratch, u64 at, u64 *ret_word)
{
	u64 page = at & ~(u64)(PAGE_BYTES - 1);
	u32 place = (at / PAGE_BYTES) & 1;

	if (at % sizeof(u64) || at < PAGE_BYTES || at >= user_end)
		return -1;
	if (scratch->walk.page[place] != page) {
		scratch->walk.page[place] = 0;
		if (bpf_probe_read_user(&scratch->pages[place * PAGE_WORDS], PAGE_BYTES,
		                        (void *)page))
			return -1;
		scratch->walk.page[place] = page;
	}
	*ret_word = scratch->pages[(at / sizeof(u64)) & (2 * PAGE_WORDS - 1)];
	return 0;
}

/* What a frame pointer points at: the one it was, and the return address. */
static __always_inline int read_pair(struct scratch *scratch, u64 at, u64 *ret_fp, u64 *ret_ra)
{
	return read_word(scratch, at, ret_fp) || read_word(scratch, at + sizeof(u64), ret_ra);
}

static __always_inline enum step cut(struct walk *walk, enum counter why)
{
	walk->cut = why;
	return STEP_CUT;
}

/* The registers of a frame that did not call: the sampled one, and what a signal interrupted. */
static __always_inline void walk_from_registers(struct scratch *scratch, u64 pc)
{
	struct walk *walk = &scratch->walk;

	walk->pc = pc;
	walk->sp = scratch->regs[REG_SP];
	walk->fp = scratch->regs[REG_FP];
	walk->leaf = 1;
}

/* Goes to the caller. Its pc is taken from within the call: the return address may already belong
 * to the next function, and to another row. */
static __always_inline enum step walk_to_caller(struct walk *walk, u64 return_address, u64 sp,
                                                u64 fp)
{
	return_address &= address_mask;
	if (return_address == 0)
		return STEP_COMPLETE;
	if (return_address < PAGE_BYTES || return_address >= user_end)
		return cut(walk, COUNTER_cut_bad_frame);
	walk->pc = return_address - 1;
	walk->sp = sp;
	walk->fp = fp;
	walk->leaf = 0;
	return STEP_CALLER;
}
