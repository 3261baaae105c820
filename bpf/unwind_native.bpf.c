/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Native frames by a checked walk along the frame pointers: each saved frame pointer must be
 * aligned, lie above the one before and not absurdly far, each return address must be one. The
 * stack is copied a page at a time, because reading user memory costs per call, not per byte.
 */
#include "bpf/unwind.bpf.h"

enum {
	PAGE_BYTES = 4096,
	MAX_FRAME_BYTES = 8 << 20, /* the default stack limit: no frame is larger */
};

static const u64 user_end = 1ULL << 56; /* user addresses lie below it on every paging mode */

struct walk {
	u64 fp;
	u64 page; /* address of what scratch->page holds; 0 for nothing, which is never mapped */
	u32 len;
	u32 outcome; /* a walk_ counter */
};

/* Reads the saved frame pointer and the return address. */
static __always_inline int read_frame(struct walk *walk, struct scratch *scratch, u64 pair[2])
{
	u64 page = walk->fp & ~(u64)(PAGE_BYTES - 1);
	u64 word = (walk->fp & (PAGE_BYTES - 1)) / sizeof(u64);

	if (word == PAGE_BYTES / sizeof(u64) - 1)
		return bpf_probe_read_user(pair, 2 * sizeof(u64), (void *)walk->fp);
	if (page != walk->page) {
		walk->page = 0;
		if (bpf_probe_read_user(scratch->page, PAGE_BYTES, (void *)page))
			return -1;
		walk->page = page;
	}
	pair[0] = scratch->page[word & 511];
	pair[1] = scratch->page[(word + 1) & 511];
	return 0;
}

static long step(u32 index, void *context)
{
	struct walk *walk = context;
	struct scratch *scratch = scratch_get();
	u64 pair[2];

	if (!scratch)
		return 1;
	if (walk->fp == 0) {
		walk->outcome = COUNTER_walk_complete;
		return 1;
	}
	if (walk->fp < PAGE_BYTES || walk->fp >= user_end || walk->fp % sizeof(u64)) {
		walk->outcome = COUNTER_walk_bad_frame;
		return 1;
	}
	if (read_frame(walk, scratch, pair)) {
		walk->outcome = COUNTER_walk_unreadable;
		return 1;
	}
	if (pair[1] < PAGE_BYTES || pair[1] >= user_end) {
		walk->outcome = pair[1] ? COUNTER_walk_bad_frame : COUNTER_walk_complete;
		return 1;
	}
	if (walk->len >= MAX_USER_FRAMES) {
		walk->outcome = COUNTER_walk_truncated;
		return 1;
	}
	scratch->frames[walk->len & (MAX_USER_FRAMES - 1)] = pair[1];
	walk->len++;
	if (pair[0] && (pair[0] <= walk->fp || pair[0] - walk->fp > MAX_FRAME_BYTES)) {
		walk->outcome = COUNTER_walk_bad_frame;
		return 1;
	}
	walk->fp = pair[0];
	return 0;
}

__noinline u32 unwind_native(u32 half, u64 pc, u64 fp)
{
	struct walk walk = {.fp = fp, .len = 1, .outcome = COUNTER_walk_truncated};
	struct scratch *scratch = scratch_get();

	if (!scratch)
		return 0;
	scratch->frames[0] = pc;
	bpf_loop(MAX_USER_FRAMES + 1, step, &walk, 0);
	/* Spelled out: the verifier wants a constant index into the counters. */
	switch (walk.outcome) {
	case COUNTER_walk_complete:
		count(half, COUNTER_walk_complete, 1);
		break;
	case COUNTER_walk_bad_frame:
		count(half, COUNTER_walk_bad_frame, 1);
		break;
	case COUNTER_walk_unreadable:
		count(half, COUNTER_walk_unreadable, 1);
		break;
	default:
		count(half, COUNTER_walk_truncated, 1);
	}
	return walk.len;
}
