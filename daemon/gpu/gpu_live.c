/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Open addressing, linear, at most half full. A removed entry leaves no mark: entries that follow
 * it for lack of room move up. Because entries move, the list of a context's allocations links
 * addresses.
 */
#include "gpu/gpu_live.h"

#include "allocators/early.h"
#include "base/hash.h"

enum {
	FIRST_SIZE = 64,
	MAX_NEWER = 64, /* entries of a context that are skipped */
};

struct gpu_live {
	struct gpu_allocation *slots; /* address 0: free */
	size_t size, count;           /* the size is a power of two */
	uint64_t seed;                /* programs choose addresses; they cannot choose collisions */
	struct early early;
	struct group {
		uint64_t context; /* 0: free */
		uint64_t first, last;
	} groups[GPU_LIVE_CONTEXTS]; /* by gpu_allocation's group - 1 */
	bool frozen;
};

struct gpu_live *gpu_live_new(void)
{
	_cleanup_(gpu_live_destroyp) struct gpu_live *live = calloc(1, sizeof(*live));

	if (!live)
		return NULL;
	live->seed = hash_seed();
	live->size = FIRST_SIZE;
	live->slots = calloc(live->size, sizeof(*live->slots));
	return live->slots ? TAKE_PTR(live) : NULL;
}

void gpu_live_destroy(struct gpu_live *live)
{
	if (!live)
		return;
	free(live->slots);
	free(live);
}

static size_t home_of(const struct gpu_live *live, uint64_t address)
{
	uint64_t mixed = (address ^ live->seed) * 0x9e3779b97f4a7c15;

	return (mixed ^ mixed >> 32) * 0xd6e8feb86659fd93 >> 32 & (live->size - 1);
}

/* The slot that the address is in, or would be in. */
static struct gpu_allocation *slot_of(const struct gpu_live *live, uint64_t address)
{
	size_t at = home_of(live, address);

	while (live->slots[at].address && live->slots[at].address != address)
		at = (at + 1) & (live->size - 1);
	return &live->slots[at];
}

static bool grow(struct gpu_live *live)
{
	struct gpu_allocation *old = live->slots;
	size_t old_size = live->size;
	struct gpu_allocation *slots = calloc(old_size * 2, sizeof(*slots));

	if (!slots)
		return false;
	live->slots = slots;
	live->size = old_size * 2;
	for (size_t i = 0; i < old_size; i++)
		if (old[i].address)
			*slot_of(live, old[i].address) = old[i];
	free(old);
	return true;
}

/* The group of a context, made when there is none; 0: no room. */
static uint8_t group_of(struct gpu_live *live, uint64_t context)
{
	uint8_t found = 0;

	for (uint8_t i = GPU_LIVE_CONTEXTS; i > 0; i--) {
		if (live->groups[i - 1].context == context)
			return i;
		if (!live->groups[i - 1].context)
			found = i;
	}
	if (found)
		live->groups[found - 1].context = context;
	return found;
}

/* Appends the allocation to the list of its context. */
static void link_last(struct gpu_live *live, struct gpu_allocation *slot, uint64_t context)
{
	struct group *group;

	slot->earlier = slot->later = 0;
	slot->group = context ? group_of(live, context) : 0;
	if (!slot->group)
		return;
	group = &live->groups[slot->group - 1];
	slot->earlier = group->last;
	if (group->last)
		slot_of(live, group->last)->later = slot->address;
	else
		group->first = slot->address;
	group->last = slot->address;
}

static void unlink_one(struct gpu_live *live, const struct gpu_allocation *slot)
{
	struct group *group;

	if (!slot->group)
		return;
	group = &live->groups[slot->group - 1];
	if (slot->earlier)
		slot_of(live, slot->earlier)->later = slot->later;
	else
		group->first = slot->later;
	if (slot->later)
		slot_of(live, slot->later)->earlier = slot->earlier;
	else
		group->last = slot->earlier;
	if (!group->first)
		group->context = 0;
}

static void take_out(struct gpu_live *live, struct gpu_allocation *slot)
{
	size_t mask = live->size - 1, hole = (size_t)(slot - live->slots);

	unlink_one(live, slot);
	for (size_t at = (hole + 1) & mask; live->slots[at].address; at = (at + 1) & mask) {
		size_t home = home_of(live, live->slots[at].address);

		/* An entry must not move before its home slot. */
		if (((at - home) & mask) < ((at - hole) & mask))
			continue;
		live->slots[hole] = live->slots[at];
		hole = at;
	}
	live->slots[hole].address = 0;
	live->count--;
}

enum gpu_live_result gpu_live_add(struct gpu_live *live, const struct gpu_allocation *allocation,
                                  uint64_t context, struct gpu_allocation *ret_before)
{
	struct gpu_allocation *slot = slot_of(live, allocation->address);
	bool freed = early_take(&live->early, allocation->address, allocation->time_ns);

	ret_before->address = 0;
	if (slot->address && slot->time_ns > allocation->time_ns)
		return GPU_LIVE_OVER;
	if (slot->address) {
		*ret_before = *slot;
		take_out(live, slot);
	}
	if (freed)
		return GPU_LIVE_OVER;
	if (live->count == GPU_LIVE_MAX ||
	    (live->count * 2 >= live->size && (live->frozen || !grow(live))))
		return GPU_LIVE_FULL;
	slot = slot_of(live, allocation->address);
	*slot = *allocation;
	link_last(live, slot, context);
	live->count++;
	return context && !slot->group ? GPU_LIVE_ALONE : GPU_LIVE_KEPT;
}

struct gpu_allocation *gpu_live_find(const struct gpu_live *live, uint64_t address)
{
	struct gpu_allocation *slot = slot_of(live, address);

	return slot->address ? slot : NULL;
}

bool gpu_live_remove(struct gpu_live *live, uint64_t address, uint64_t time_ns,
                     struct gpu_allocation *ret_gone)
{
	struct gpu_allocation *slot = slot_of(live, address);

	*ret_gone = *slot;
	if (!slot->address) {
		early_add(&live->early, address, time_ns);
		return false;
	}
	if (slot->time_ns > time_ns)
		return false;
	take_out(live, slot);
	return true;
}

/* The first allocation of the group that was made no later than `time_ns`. Few newer ones, if any,
 * come before it: events come somewhat out of order. NULL: none. */
static struct gpu_allocation *oldest_until(const struct gpu_live *live, const struct group *group,
                                           uint64_t time_ns)
{
	uint64_t address = group->first;

	for (int newer = 0; address && newer < MAX_NEWER; newer++) {
		struct gpu_allocation *slot = slot_of(live, address);

		if (slot->time_ns <= time_ns)
			return slot;
		address = slot->later;
	}
	return NULL;
}

bool gpu_live_remove_of(struct gpu_live *live, uint64_t context, uint64_t time_ns,
                        struct gpu_allocation *ret_gone)
{
	for (size_t i = 0; context && i < GPU_LIVE_CONTEXTS; i++) {
		struct gpu_allocation *slot;

		if (live->groups[i].context != context)
			continue;
		slot = oldest_until(live, &live->groups[i], time_ns);
		if (!slot)
			return false;
		*ret_gone = *slot;
		take_out(live, slot);
		return true;
	}
	return false;
}

uint64_t gpu_live_unmatched(struct gpu_live *live, uint64_t now_ns)
{
	/* Nothing is at address 0. The call drops frees that are too old. */
	early_take(&live->early, 0, now_ns);
	return live->early.given_up;
}

void gpu_live_freeze(struct gpu_live *live, bool frozen)
{
	live->frozen = frozen;
}

size_t gpu_live_count(const struct gpu_live *live)
{
	return live->count;
}

size_t gpu_live_memory(const struct gpu_live *live)
{
	return sizeof(*live) + live->size * sizeof(*live->slots);
}
