/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct walk - the state of a native walk: the frame at which it stands, and what it remembers in
 * order to be fast. It is in the lane's scratch. The stack is copied a page at a time, because
 * reading user memory costs per call, not per byte.
 */
#pragma once

#include "bpf/walk/regs.bpf.h"

enum {
	PAGE_BYTES = 4096,
	PAGE_WORDS = PAGE_BYTES / sizeof(u64),
	MAX_FRAME_BYTES =
		8 << 20, /* the default stack limit: frames found by frame pointer are smaller */
};

static const u64 user_end = 1ULL << 56; /* user addresses lie below this in every paging mode */

/* arm64 may sign return addresses in the bits that an address does not use. In almost every kernel
 * configuration these are the bits above 48. */
#if defined(__TARGET_ARCH_arm64)
static const u64 address_mask = (1ULL << 48) - 1;
#else
static const u64 address_mask = ~0ULL;
#endif

/* Result of a step. */
enum step {
	STEP_CALLER,   /* the walk now stands at the caller */
	STEP_COMPLETE, /* there is no caller: the stack is complete */
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

/* Reads what a frame pointer points at: the caller's frame pointer and the return address. */
static __always_inline int read_pair(struct scratch *scratch, u64 at, u64 *ret_fp, u64 *ret_ra)
{
	return read_word(scratch, at, ret_fp) || read_word(scratch, at + sizeof(u64), ret_ra);
}

static __always_inline enum step cut(struct walk *walk, enum counter why)
{
	walk->cut = why;
	return STEP_CUT;
}

/* Starts from the registers of a frame that made no call: the sampled frame, or one that a signal
 * interrupted. */
static __always_inline void walk_from_registers(struct scratch *scratch, u64 pc)
{
	struct walk *walk = &scratch->walk;

	walk->pc = pc;
	walk->sp = scratch->regs[REG_SP];
	walk->fp = scratch->regs[REG_FP];
	walk->leaf = 1;
}

/* Goes to the caller. Its pc is an address within the call instruction: the return address may
 * already belong to the next function, and to another row. */
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
