/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Accounts and their shares. A user and the user's subordinate ids are one account, as in
 * daemon/base/accounts.h. An account's share bounds how much it may have of what all share: of the
 * stacks of a half, and of the unread bytes of a ring buffer.
 */
#pragma once

#include "bpf/hash.bpf.h"
#include "bpf/user.h"

#include <bpf/bpf_helpers.h>

/* The ranges, sorted and without overlaps; account_count is their number. Both are set before
 * load. */
struct account_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, u32);
	__type(value, struct account_range);
	__uint(max_entries, 1);
};

/* The account of a user of the initial user namespace. */
u32 user_account(u32 user);

/* The place in which the current task's account is counted, below ACCOUNT_PLACES. */
static __always_inline u32 user_place(void)
{
	return account_place(&hash_key, user_account((u32)bpf_get_current_uid_gid()));
}

/*
 * Whether an account that has `own` of what is taken may have more. It may have as much as is left
 * for all others; an eighth of the whole is reserved for root and not counted. So an account alone
 * may have nearly half, and there is always room for a new account.
 */
static __always_inline int user_may_have(u32 place, u64 own, u64 taken, u64 whole)
{
	return own + taken < (place ? whole - whole / 8 : whole);
}

/* The place of the account for which room is taken: struct scratch. */
static __always_inline u32 user_place_for(u64 user_and_1)
{
	return user_and_1 ? account_place(&hash_key, user_account((u32)user_and_1 - 1))
	                  : user_place();
}

/* Values that are no place of an account: the room is not crowded, so no account was looked up; the
 * account's share is used up. */
enum { NOBODY_ASKED = ACCOUNT_PLACES, NO_ROOM };

/* Whether so much of the room is taken that entries are counted by account. Mostly that is never
 * the case. */
static __always_inline int taken_is_crowded(const struct taken *taken, u32 room)
{
	return *(volatile const u32 *)&taken->all >= room / 4;
}

/* Whether an account may have one more entry of the room. */
static __always_inline int taken_allows(const struct taken *taken, u32 place, u32 room)
{
	barrier_var(place); /* or the compiler leaves out the mask, which the verifier needs */
	place &= ACCOUNT_PLACES - 1;
	return user_may_have(place, taken->of[place], taken->all, room);
}

/* The place where taken_count() counts one more entry of the account for which room is taken,
 * NOBODY_ASKED, or NO_ROOM if the account's share is used up. */
static __always_inline u32 taken_place(const struct taken *taken, u32 room, u64 user_and_1)
{
	u32 place;

	if (!taken_is_crowded(taken, room))
		return NOBODY_ASKED;
	place = user_place_for(user_and_1);
	return taken_allows(taken, place, room) ? place : NO_ROOM;
}

/* Counts one more entry; returns how many there were before. */
static __always_inline u32 taken_count(struct taken *taken, u32 place)
{
	barrier_var(place); /* as above */
	if (place < ACCOUNT_PLACES)
		__sync_fetch_and_add(&taken->of[place], 1);
	return __sync_fetch_and_add(&taken->all, 1);
}

/* Takes back what taken_count() has counted. */
static __always_inline void taken_give(struct taken *taken, u32 place)
{
	barrier_var(place); /* as above */
	if (place < ACCOUNT_PLACES)
		__sync_fetch_and_add(&taken->of[place], -1);
	__sync_fetch_and_add(&taken->all, -1);
}

struct ring_user_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, u32);
	__type(value, struct ring_user);
	__uint(max_entries, ACCOUNT_PLACES);
};

/* Once all bytes up to `end` are read, the bytes behind it become those counted in `before`. */
static __always_inline void ring_user_settle(struct ring_user *user, u64 read, u64 told)
{
	u64 end = *(volatile u64 *)&user->end, last = *(volatile u64 *)&user->last, since;

	if (read < end || __sync_val_compare_and_swap(&user->end, end, told) != end)
		return;
	since = __sync_lock_test_and_set(&user->since, 0);
	user->before = read < last ? since : 0;
}

/* Counts an event of the account that was lost. */
static __always_inline void ring_user_lose(struct ring_user *user)
{
	__sync_fetch_and_add(&user->lost, 1);
}

/* The ring_user of a place, or NULL if its account's share is used up. Called before any work is
 * done for an event; ring_user_charge() then charges the event's bytes. `ring` and `users` are
 * constants where this is called. */
static __always_inline struct ring_user *ring_user_at(void *ring, void *users, u64 ring_bytes,
                                                      u32 at)
{
	struct ring_user *user = bpf_map_lookup_elem(users, &at);
	u64 read = bpf_ringbuf_query(ring, BPF_RB_CONS_POS);
	u64 told = bpf_ringbuf_query(ring, BPF_RB_PROD_POS);

	if (!user)
		return NULL;
	ring_user_settle(user, read, told);
	if (user_may_have(at, user->before + user->since, told - read, ring_bytes))
		return user;
	ring_user_lose(user);
	return NULL;
}

/* The same for the current task's account. */
static __always_inline struct ring_user *ring_user_with_room(void *ring, void *users,
                                                             u64 ring_bytes)
{
	return ring_user_at(ring, users, ring_bytes, user_place());
}

/* Charges a record's bytes, with its header and the padding to whole words. */
static __always_inline void ring_user_charge(void *ring, struct ring_user *user, u64 bytes)
{
	__sync_fetch_and_add(&user->since, (bytes + 15) & ~7ULL);
	user->last = bpf_ringbuf_query(ring, BPF_RB_PROD_POS);
}
