/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A sorted array of chunks, each a sorted array of mappings.
 */
#include "base/bounds.h"
#include "proc/mapping_set_private.h"
#include "proc/owner.h"
#include "proc/paths.h"

#include <errno.h>
#include <string.h>

enum {
	FIRST_SLOTS = 4,
	SMALL_SET_BYTES = 4096, /* 64 mappings: a program with some 20 libraries */
};

/* A position in a set: before the mapping at index `item` of a slot's chunk. At the end of the set
 * `slot` is slot_count. */
struct at {
	size_t slot, item;
};

uint64_t mapping_set_next_serial(void)
{
	static uint64_t last;

	return ++last;
}

struct mapping_set *mapping_set_new(struct mapping_room *room)
{
	struct mapping_set *set = calloc(1, sizeof(*set));

	if (!set)
		return NULL;
	set->references = 1;
	set->serial = mapping_set_next_serial();
	set->room = room;
	set->user = OWNER_UNKNOWN;
	return set;
}

struct mapping_set *mapping_set_ref(struct mapping_set *set)
{
	set->references++;
	return set;
}

static void give_slots(struct mapping_set *set)
{
	mapping_room_give(set->room, set->slots_user, set->slot_capacity * sizeof(*set->slots));
}

void mapping_set_unref(struct mapping_set *set)
{
	if (!set || --set->references > 0)
		return;
	for (size_t i = 0; i < set->slot_count; i++)
		mapping_chunk_unref(set->slots[i].chunk);
	give_slots(set);
	free(set->slots);
	free(set);
}

bool mapping_set_wants_owner(const struct mapping_set *set)
{
	const struct mapping_room *room = set->room;

	return room && set->user == OWNER_UNKNOWN &&
	       (set->count * sizeof(struct proc_mapping) >= SMALL_SET_BYTES ||
	        room->shares.taken > room->shares.whole / 4);
}

void mapping_set_own(struct mapping_set *set, uint32_t user)
{
	set->user = user;
}

static int reserve_slots(struct mapping_set *set, size_t wanted)
{
	size_t capacity = set->slot_capacity ? set->slot_capacity : FIRST_SLOTS;
	struct slot *slots;

	if (wanted <= set->slot_capacity)
		return 0;
	while (capacity < wanted)
		capacity *= 2;
	if (!mapping_room_take(set->room, set->user, capacity * sizeof(*slots)))
		return -ENOSPC;
	slots = reallocarray(set->slots, capacity, sizeof(*slots));
	if (!slots) {
		mapping_room_give(set->room, set->user, capacity * sizeof(*slots));
		return -ENOMEM;
	}
	give_slots(set);
	set->slots = slots;
	set->slots_user = set->user;
	set->slot_capacity = capacity;
	return 0;
}

/* Replaces a shared set by a set of its own with the same chunks. */
static int make_own(struct mapping_set **set)
{
	_cleanup_(mapping_set_unrefp) struct mapping_set *own = NULL;
	int err;

	if ((*set)->references == 1)
		return 0;
	own = mapping_set_new((*set)->room);
	if (!own)
		return -ENOMEM;
	own->user = (*set)->user;
	err = reserve_slots(own, (*set)->slot_count + 1);
	if (err)
		return err;
	for (size_t i = 0; i < (*set)->slot_count; i++) {
		own->slots[i] = (*set)->slots[i];
		mapping_chunk_ref(own->slots[i].chunk);
	}
	own->slot_count = (*set)->slot_count;
	own->counted = (*set)->counted;
	own->count = (*set)->count;
	mapping_set_unref(*set);
	*set = TAKE_PTR(own);
	return 0;
}

/* To be called when a chunk's count changed, or when a slot has another chunk. */
static void uncount_from(struct mapping_set *set, size_t slot)
{
	if (set->counted > slot)
		set->counted = slot;
}

/* Brings slot.first up to date. Done only when needed, because changes to a large set come many in
 * a row. */
static void count(struct mapping_set *set)
{
	size_t slot = set->counted;
	size_t first = slot ? set->slots[slot - 1].first + set->slots[slot - 1].chunk->count : 0;

	for (; slot < set->slot_count; slot++) {
		set->slots[slot].first = first;
		first += set->slots[slot].chunk->count;
	}
	set->counted = slot;
}

static uint64_t last_end(const struct mapping_set *set, size_t slot)
{
	const struct mapping_chunk *chunk = set->slots[slot].chunk;

	return chunk->items[chunk->count - 1].end;
}

static size_t first_slot_above(const struct mapping_set *set, uint64_t address)
{
	size_t low = 0, high = set->slot_count;

	/* Mappings are mostly added in order of address. */
	if (high && last_end(set, high - 1) <= address)
		return high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (last_end(set, middle) > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* The first mapping that ends above the address. */
static struct at first_above(const struct mapping_set *set, uint64_t address)
{
	struct at at = {first_slot_above(set, address), 0};

	if (at.slot < set->slot_count)
		while (set->slots[at.slot].chunk->items[at.item].end <= address)
			at.item++;
	return at;
}

static struct proc_mapping *item_at(const struct mapping_set *set, struct at at)
{
	return at.slot < set->slot_count ? &set->slots[at.slot].chunk->items[at.item] : NULL;
}

/* Makes the chunk of a slot unshared, with room for one more mapping unless it is full. */
static int own_chunk(struct mapping_set *set, size_t slot, struct mapping_chunk **ret_chunk)
{
	struct mapping_chunk *chunk = set->slots[slot].chunk;

	if (chunk->references > 1 ||
	    (chunk->count == chunk->capacity && chunk->capacity < CHUNK_MAPPINGS)) {
		chunk = mapping_chunk_copy(chunk, set->room, set->user);
		if (!chunk)
			return -ENOSPC;
		mapping_chunk_unref(set->slots[slot].chunk);
		set->slots[slot].chunk = chunk;
	}
	*ret_chunk = chunk;
	return 0;
}

static int insert_slot(struct mapping_set *set, size_t slot, struct mapping_chunk **ret_chunk)
{
	int err = reserve_slots(set, set->slot_count + 1);

	if (err)
		return err;
	*ret_chunk = mapping_chunk_new(CHUNK_MAPPINGS / 8, set->room, set->user);
	if (!*ret_chunk)
		return -ENOSPC;
	memmove(&set->slots[slot + 1], &set->slots[slot],
	        (set->slot_count - slot) * sizeof(*set->slots));
	set->slots[slot].chunk = *ret_chunk;
	set->slot_count++;
	return 0;
}

/* Moves the second half of a full chunk to a new chunk. */
static int split(struct mapping_set *set, size_t slot)
{
	struct mapping_chunk *chunk = set->slots[slot].chunk, *half;
	int err = reserve_slots(set, set->slot_count + 1);

	if (err)
		return err;
	half = mapping_chunk_new(CHUNK_MAPPINGS, set->room, set->user);
	if (!half)
		return -ENOSPC;
	mapping_chunk_split(chunk, chunk->count / 2, half);
	memmove(&set->slots[slot + 2], &set->slots[slot + 1],
	        (set->slot_count - slot - 1) * sizeof(*set->slots));
	set->slots[slot + 1].chunk = half;
	set->slot_count++;
	return 0;
}

/* Provides an unshared chunk with room for a mapping before `at`, and adjusts `at` to it. */
static int make_place(struct mapping_set *set, struct at *at, struct mapping_chunk **ret_chunk)
{
	int err;

	/* After the last mapping: at the end of the last chunk, or in a new chunk. */
	if (at->slot == set->slot_count) {
		if (!at->slot || set->slots[at->slot - 1].chunk->count == CHUNK_MAPPINGS)
			return insert_slot(set, at->slot, ret_chunk);
		at->slot--;
		at->item = set->slots[at->slot].chunk->count;
	}
	err = own_chunk(set, at->slot, ret_chunk);
	if (err || (*ret_chunk)->count < CHUNK_MAPPINGS)
		return err;
	err = split(set, at->slot);
	if (!err && at->item > (*ret_chunk)->count) {
		at->item -= (*ret_chunk)->count;
		at->slot++;
		*ret_chunk = set->slots[at->slot].chunk;
	}
	return err;
}

/* Takes over the reference to the path when it succeeds. */
static int insert(struct mapping_set *set, struct at at, const struct proc_mapping *mapping)
{
	struct mapping_chunk *chunk;
	size_t first = at.slot;
	int err = make_place(set, &at, &chunk);

	if (!err) {
		mapping_chunk_insert(chunk, at.item, mapping);
		set->count++;
	}
	uncount_from(set, first < at.slot ? first : at.slot);
	return err;
}

static int remove_at(struct mapping_set *set, struct at at)
{
	struct mapping_chunk *chunk;
	int err = own_chunk(set, at.slot, &chunk);

	if (err)
		return err;
	mapping_chunk_remove(chunk, at.item);
	if (!chunk->count) {
		mapping_chunk_unref(chunk);
		set->slot_count--;
		memmove(&set->slots[at.slot], &set->slots[at.slot + 1],
		        (set->slot_count - at.slot) * sizeof(*set->slots));
	}
	set->count--;
	uncount_from(set, at.slot);
	return 0;
}

/* Shortens the mapping at `at` to its part below `end`; keep_from() to the part from `start` on. */
static int keep_below(struct mapping_set *set, struct at at, uint64_t end)
{
	struct mapping_chunk *chunk;
	int err = own_chunk(set, at.slot, &chunk);

	if (!err)
		chunk->items[at.item].end = end;
	return err;
}

static int keep_from(struct mapping_set *set, struct at at, uint64_t start)
{
	struct mapping_chunk *chunk;
	int err = own_chunk(set, at.slot, &chunk);

	if (err)
		return err;
	chunk->items[at.item].offset += start - chunk->items[at.item].start;
	chunk->items[at.item].start = start;
	return 0;
}

/* Splits a mapping that contains [start, end) into the parts before and after. */
static int split_around(struct mapping_set *set, struct at at, uint64_t start, uint64_t end)
{
	struct proc_mapping tail = *item_at(set, at);
	int err = keep_below(set, at, start);

	if (err)
		return err;
	paths_ref_again(tail.path);
	tail.offset += end - tail.start;
	tail.start = end;
	err = insert(set, first_above(set, start), &tail);
	if (err)
		paths_unref(tail.path);
	return err;
}

/* Makes [start, end) free. After an error a part of it may be free. */
static int clear_range(struct mapping_set *set, uint64_t start, uint64_t end)
{
	for (;;) {
		struct at at = first_above(set, start);
		const struct proc_mapping *old = item_at(set, at);
		int err;

		if (!old || old->start >= end)
			return 0;
		if (old->start < start && old->end > end)
			return split_around(set, at, start, end);
		if (old->start < start)
			err = keep_below(set, at, start);
		else if (old->end > end)
			return keep_from(set, at, end);
		else
			err = remove_at(set, at);
		if (err)
			return err;
	}
}

int mapping_set_add(struct mapping_set **set, const struct proc_mapping *mapping)
{
	struct proc_mapping copy = *mapping;
	int err;

	if (mapping->start >= mapping->end)
		return -EINVAL;
	if ((*set)->count >= MAX_MAPPINGS)
		return -ENOSPC;
	err = make_own(set);
	if (err)
		return err;
	copy.path = paths_ref(mapping->path, (*set)->room, (*set)->user);
	if (!copy.path)
		return -ENOSPC;
	(*set)->serial = mapping_set_next_serial();
	err = clear_range(*set, mapping->start, mapping->end);
	if (!err)
		err = insert(*set, first_above(*set, mapping->start), &copy);
	if (err)
		paths_unref(copy.path);
	return err;
}

const struct proc_mapping *mapping_set_find(const struct mapping_set *set, uint64_t address)
{
	const struct proc_mapping *mapping = item_at(set, first_above(set, address));

	return mapping && mapping->start <= address ? mapping : NULL;
}

const struct proc_mapping *mapping_set_before(const struct mapping_set *set, uint64_t address)
{
	struct at at = first_above(set, address);

	if (!at.item) {
		if (!at.slot)
			return NULL;
		at.item = set->slots[--at.slot].chunk->count;
	}
	at.item--;
	return item_at(set, at);
}

size_t mapping_set_count(const struct mapping_set *set)
{
	return set->count;
}

const struct proc_mapping *mapping_set_at(const struct mapping_set *set, size_t index)
{
	size_t low = 0, high = set->slot_count;

	if (index >= set->count)
		return NULL;
	count((struct mapping_set *)(uintptr_t)set); /* the set's contents stay the same */
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (set->slots[middle].first <= index)
			low = middle;
		else
			high = middle;
	}
	return &set->slots[low].chunk->items[index - set->slots[low].first];
}

bool mapping_set_equal(const struct mapping_set *a, const struct mapping_set *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		const struct proc_mapping *x = mapping_set_at(a, i), *y = mapping_set_at(b, i);

		if (x->start != y->start || x->end != y->end || x->offset != y->offset ||
		    x->object != y->object || x->path != y->path)
			return false;
	}
	return true;
}

uint64_t mapping_set_serial(const struct mapping_set *set)
{
	return set->serial;
}
