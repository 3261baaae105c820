/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The walk as a whole: walks a task's user stack and makes an id of it. The native frames come
 * first; those of an interpreter are then put in their places among them.
 */
#include "bpf/walk/unwind.bpf.h"

#include "bpf/hash.bpf.h"
#include "bpf/user.bpf.h"

struct store {
	u64 parent; /* key of the node stored last, which holds the callers */
	u32 at;
	u32 len; /* frames not stored yet: [0, len) of the scratch */
};

/* Moves the outermost remaining frames into scratch->node; returns the node's key. */
__noinline u64 stack_node(u32 at, u64 parent, u32 len)
{
	struct scratch *scratch = scratch_get(at);
	u32 first = len > NODE_FRAMES ? len - NODE_FRAMES : 0;
	u64 key = mix_first(parent, len - first);

	if (!scratch)
		return STACK_LOST;
	scratch->node.parent = parent;
	scratch->node.len = len - first;
	for (u32 i = 0; i < NODE_FRAMES; i++) {
		u32 index = first + i;
		/* All ones if there is such a frame. Without a branch the verifier checks this
		 * once, and not once for each number of frames. */
		u64 there = (s64)((u64)index - len) >> 63;
		u64 frame = scratch->frames[index & (SCRATCH_FRAMES - 1)] & there;

		scratch->node.frames[i] = frame;
		key = mix(key, frame);
	}
	return key < STACK_FIRST ? STACK_FIRST : key;
}

/*
 * The place where a new node would be counted by account, NOBODY_ASKED, or NO_ROOM. Samples that
 * are not the timer's have a bounded part of the map. Once a quarter is full, an account has its
 * share of the map and of that part.
 */
__noinline u32 stack_place(u32 at)
{
	const struct scratch *scratch = scratch_get(at);
	struct taken *taken = &nodes_taken[at & 1], *others = &others_nodes[at & 1];
	int is_others = at >> LANE_SHIFT != LANE_TICK;
	u32 place;

	if (!taken_is_crowded(taken, node_room) &&
	    !(is_others && taken_is_crowded(others, others_room.stacks)))
		return NOBODY_ASKED;
	place = user_place_for(scratch ? scratch->user_and_1 : 0);
	if (taken_allows(taken, place, node_room) &&
	    (!is_others || taken_allows(others, place, others_room.stacks)))
		return place;
	count(at, COUNTER_stacks_over_share, 1);
	return NO_ROOM;
}

static __always_inline void count_taken(u32 at, u32 place)
{
	taken_count(&nodes_taken[at & 1], place);
	if (at >> LANE_SHIFT != LANE_TICK)
		taken_count(&others_nodes[at & 1], place);
}

static __always_inline u32 keep(u64 key, struct scratch *scratch)
{
	if (bpf_map_lookup_elem(&kept_stacks, &key))
		return 0;
	scratch->kept_nodes++;
	return bpf_map_update_elem(&kept_stacks, &key, &scratch->node, BPF_ANY) != 0;
}

/* Puts scratch->node into the half's map; not 0 where there is no room for it. */
__noinline u32 stack_put(u32 at, u64 key)
{
	struct scratch *scratch = scratch_get(at);
	void *map = at & 1 ? (void *)&stacks_1 : (void *)&stacks_0;
	u32 place;
	long err;

	if (!scratch)
		return 1;
	if (scratch->keeps_stacks)
		return keep(key, scratch);
	if (bpf_map_lookup_elem(map, &key))
		return 0;
	place = stack_place(at);
	if (place == NO_ROOM)
		return 1;
	err = bpf_map_update_elem(map, &key, &scratch->node, BPF_NOEXIST);
	if (!err)
		count_taken(at, place);
	return err && err != -EEXIST;
}

static long store_node(u32 index, void *context)
{
	struct store *store = context;
	u64 key;

	if (store->len == 0)
		return 1;
	key = stack_node(store->at, store->parent, store->len);
	if (stack_put(store->at, key)) {
		store->parent = STACK_LOST;
		return 1;
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

/* A thread has frames of the first runtime that finds some; without any, the native frames are the
 * stack. */
static __always_inline u32 unwind_interpreted(u32 at, const struct scratch *scratch)
{
	u32 len;

#define RUNTIME(name)            \
	len = unwind_##name(at); \
	if (len)                 \
		return len;
	RUNTIMES(RUNTIME)
#undef RUNTIME
	return scratch->walk.len;
}

__noinline u32 unwind_stack(u32 at, u64 pc)
{
	struct scratch *scratch = scratch_get(at);
	u32 len;

	if (!scratch)
		return 0;
	scratch->gil = 0;
	unwind_native(at, pc);
	len = unwind_interpreted(at, scratch);
	count_at(at, scratch->walk.cut);
	if (scratch->walk.cut != COUNTER_walk_complete)
		scratch->frames[len++ & (SCRATCH_FRAMES - 1)] = scratch->walk.cut;
	return len;
}
