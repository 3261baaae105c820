/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The walk as a whole: what a task's user stack is, and how a stack becomes an id. The native
 * frames come first; those of an interpreter are then put where they belong among them.
 */
#include "bpf/unwind.bpf.h"

#include "bpf/hash.bpf.h"
#include "bpf/regs.bpf.h"

struct store {
	u64 parent; /* key of the node stored last, which holds the callers */
	u32 at;
	u32 len; /* frames that are not stored yet: [0, len) of the scratch */
};

/* Moves the outermost frames that are left into scratch->node; the node's key. */
static __always_inline u64 cut_node(struct scratch *scratch, u64 parent, u32 len)
{
	u32 first = len > NODE_FRAMES ? len - NODE_FRAMES : 0;
	u64 key = mix_first(parent, len - first);

	scratch->node.parent = parent;
	scratch->node.len = len - first;
	for (u32 i = 0; i < NODE_FRAMES; i++) {
		u32 at = first + i;
		/* All ones where there is such a frame. Without a branch the verifier goes this way
		 * once, and not once for each number of frames. */
		u64 there = (s64)((u64)at - len) >> 63;
		u64 frame = scratch->frames[at & (SCRATCH_FRAMES - 1)] & there;

		scratch->node.frames[i] = frame;
		key = mix(key, frame);
	}
	return key < STACK_FIRST ? STACK_FIRST : key;
}

/* Whether a node that is new finds room: always where it is the timer's. */
static __always_inline int has_room(u32 at)
{
	return at >> LANE_SHIFT == LANE_TICK ||
	       others_have_room(&others_taken[at & 1].stacks, others_room.stacks);
}

static long store_node(u32 index, void *context)
{
	struct store *store = context;
	struct scratch *scratch = scratch_get(store->at);
	void *map;
	u64 key;
	long err;

	if (!scratch || store->len == 0)
		return 1;
	key = cut_node(scratch, store->parent, store->len);
	/* Chosen behind it, or the verifier goes through it once for each map. */
	barrier();
	map = store->at & 1 ? (void *)&stacks_1 : (void *)&stacks_0;
	if (!bpf_map_lookup_elem(map, &key)) {
		err = has_room(store->at)
		              ? bpf_map_update_elem(map, &key, &scratch->node, BPF_NOEXIST)
		              : -ENOSPC;
		if (err && err != -EEXIST) {
			store->parent = STACK_LOST;
			return 1;
		}
	}
	store->parent = key;
	store->len = store->len > NODE_FRAMES ? store->len - NODE_FRAMES : 0;
	return 0;
}

__noinline u64 stack_store(u32 at, u32 len)
{
	struct store store = {.parent = STACK_NONE, .at = at, .len = len};

	bpf_loop(SCRATCH_FRAMES / NODE_FRAMES, store_node, &store, 0);
	return store.parent;
}

__noinline u32 unwind_stack(u32 at, u64 pc)
{
	struct scratch *scratch = scratch_get(at);
	u32 len;

	if (!scratch)
		return 0;
	scratch->gil = 0;
	unwind_native(at, pc);
	len = unwind_python(at);
	count_at(at, scratch->walk.cut);
	if (scratch->walk.cut != COUNTER_walk_complete)
		scratch->frames[len++ & (SCRATCH_FRAMES - 1)] = scratch->walk.cut;
	return len;
}

__noinline u64 unwind_user(u32 at, u32 compat, u32 in_syscall)
{
	struct scratch *scratch = scratch_get(at);
	u32 len = 2;
	u64 pc;

	if (!scratch)
		return STACK_LOST;
	pc = scratch->regs[REG_PC] - (in_syscall != 0);
	if (compat) {
		scratch->gil = 0;
		scratch->frames[0] = pc;
		scratch->frames[1] = COUNTER_cut_compat;
		count(at, COUNTER_frames, 1);
		count(at, COUNTER_cut_compat, 1);
	} else {
		len = unwind_stack(at, pc);
	}
	return stack_store(at, len);
}
