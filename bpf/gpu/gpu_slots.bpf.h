/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Most calls are like one that the thread made a moment ago. Looking for their rows each time would
 * cost as much as all the rest of counting. So a row is lent a slot in which calls are counted
 * until the next one that is walked, and the thread remembers the slots of its latest rows. The
 * daemon adds up row and slot when it empties the half.
 *
 * There are fewer slots than rows. The last slots are kept for rows that are made when the half is
 * crowded: these rows collect all calls that are no longer told apart.
 */
#pragma once

#include "bpf/gpu/gpu_maps.bpf.h"

/* The compiler must not know that an index is in range, or it leaves out the mask that the verifier
 * needs. */
static __always_inline struct gpu_slot *slot_at(u32 at, u32 slot)
{
	barrier_var(at);
	barrier_var(slot);
	return &gpu_slots[at & 1][slot & (GPU_SLOTS - 1)];
}

enum { GPU_SLOTS_KEPT = GPU_SLOTS / 8 }; /* for crowded rows */

/* Slots of the half that are taken; the mask is as in slot_at(). */
static __always_inline struct taken *slots_taken(u32 at)
{
	barrier_var(at);
	return &gpu_slots_taken[at & 1];
}

/* Takes a slot for a new row; 0 when there are no more, or the account's share is used up. */
static __always_inline u32 slot_take(u32 at, int is_crowded)
{
	struct taken *taken = slots_taken(at);
	u32 place = taken_place(taken, is_crowded ? GPU_SLOTS : GPU_SLOTS - GPU_SLOTS_KEPT, 0);
	u32 slot = place == NO_ROOM ? GPU_SLOTS : taken_count(taken, place) + 1;

	if (slot < GPU_SLOTS) {
		*slot_at(at, slot) = (struct gpu_slot){0};
		return slot;
	}
	GPU_ADD(slots_full);
	return 0;
}

/* Moves what was counted in a row's slot back to the row. */
static __always_inline void slot_return(u32 at, struct gpu_call *row)
{
	struct gpu_slot *slot = slot_at(at, row->slot);

	if (!row->slot)
		return;
	row->count += slot->count;
	row->value += slot->value;
	row->due += slot->due;
	*slot = (struct gpu_slot){0};
}

/* Which words of a key are compared: all, or all but the shape (grid and block). */
enum key_shape { SHAPED, SHAPELESS };

_Static_assert(__builtin_offsetof(struct gpu_call_key, grid) ==
                               __builtin_offsetof(struct gpu_call_key, object) + sizeof(u64) &&
                       __builtin_offsetof(struct gpu_call_key, kind) ==
                               sizeof(struct gpu_call_key) - sizeof(u64),
               "the shape is all but the first and the last word");

static __always_inline u64 key_word(const struct gpu_call_key *key, u32 number,
                                    enum key_shape shape)
{
	const u64 *words = &key->object;

	return shape == SHAPED || number == 0 || number == GPU_KEY_WORDS - 1 ? words[number] : 0;
}

/* The place where the thread remembers a row with this key, if it does. */
static __always_inline struct gpu_recent *recent_place(struct gpu_thread *thread,
                                                       const struct gpu_call_key *key,
                                                       enum key_shape shape)
{
	u64 sum = 0;
	u32 place;

#pragma clang loop unroll(full)
	for (u32 i = 0; i < GPU_KEY_WORDS; i++)
		sum = sum * 31 + key_word(key, i, shape);
	/* The upper bits of a product depend on all lower bits of its factors. */
	place = sum * 0x9e3779b97f4a7c15ULL >> (64 - GPU_RECENT_BITS);
	barrier_var(place);
	return &thread->recent[place & (GPU_RECENT - 1)];
}

/* The slot of the row with this key, or 0. */
static __always_inline u32 recent_slot(struct gpu_thread *thread, const struct gpu_call_key *key,
                                       enum key_shape shape)
{
	const struct gpu_recent *recent = recent_place(thread, key, shape);
	u64 differs = recent->turn ^ thread->flip.turn;

#pragma clang loop unroll(full)
	for (u32 i = 0; i < GPU_KEY_WORDS; i++)
		differs |= recent->words[i] ^ key_word(key, i, shape);
	return differs ? 0 : recent->slot;
}

/* Lets the row's calls be counted in its slot until the next one that is walked. */
static __always_inline void slot_lend(u32 at, struct gpu_thread *thread,
                                      const struct gpu_call_key *key, struct gpu_call *row)
{
	struct gpu_recent *recent = recent_place(thread, key, SHAPED);

	if (!row->slot)
		return;
	slot_at(at, row->slot)->due = row->due;
	row->due = 0;
#pragma clang loop unroll(full)
	for (u32 i = 0; i < GPU_KEY_WORDS; i++)
		recent->words[i] = key_word(key, i, SHAPED);
	recent->turn = thread->flip.turn;
	recent->slot = row->slot;
}

/* Counts a call in a slot; whether that was possible, without looking for the row. */
static __always_inline int slot_add(u32 at, struct gpu_thread *thread,
                                    const struct gpu_call_key *key, enum key_shape shape, u64 value)
{
	struct gpu_slot *slot = slot_at(at, recent_slot(thread, key, shape));

	if (!slot->due)
		return 0;
	slot->due--;
	slot->count++;
	slot->value += value;
	return 1;
}
