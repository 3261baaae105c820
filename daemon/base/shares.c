/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An owner that holds nothing has no entry.
 */
#include "base/shares.h"

#include "base/accounts.h"
#include "base/clock.h"
#include "base/table.h"

#include <stdlib.h>

struct share {
	uint64_t owner;
	uint64_t amount;
	UT_hash_handle hh;
};

static uint64_t account(uint64_t owner)
{
	return owner > UINT32_MAX ? owner : account_of((uint32_t)owner);
}

static struct share *find(const struct shares *shares, uint64_t owner)
{
	struct share *share;

	owner = account(owner);
	HASH_FIND(hh, shares->by_owner, &owner, sizeof(owner), share);
	return share;
}

static uint64_t left(const struct shares *shares)
{
	return shares->taken < shares->whole ? shares->whole - shares->taken : 0;
}

static struct share *get(struct shares *shares, uint64_t owner)
{
	struct share *share = find(shares, owner);

	if (share)
		return share;
	share = calloc(1, sizeof(*share));
	if (!share)
		return NULL;
	share->owner = account(owner);
	HASH_ADD(hh, shares->by_owner, owner, sizeof(owner), share);
	if (share->hh.tbl)
		return share;
	free(share);
	return NULL;
}

static void drop(struct shares *shares, struct share *share)
{
	HASH_DEL(shares->by_owner, share);
	free(share);
}

bool shares_add(struct shares *shares, uint64_t owner, uint64_t amount)
{
	struct share *share = amount ? get(shares, owner) : NULL;

	shares->taken += amount;
	if (share)
		share->amount += amount;
	return share || !amount;
}

bool shares_take_left(struct shares *shares, uint64_t owner, uint64_t amount)
{
	if (amount > left(shares))
		return false;
	if (shares_add(shares, owner, amount))
		return true;
	shares->taken -= amount;
	return false;
}

/* `room` is the part of what is left that owners like this one may take. */
static bool take(struct shares *shares, uint64_t owner, uint64_t amount, uint64_t room)
{
	const struct share *share = find(shares, owner);
	uint64_t has = share ? share->amount : 0;

	if (amount > room || has + amount > room - amount)
		return false;
	return shares_take_left(shares, owner, amount);
}

bool shares_take(struct shares *shares, uint64_t owner, uint64_t amount)
{
	return take(shares, owner, amount, left(shares));
}

bool shares_take_beside_root(struct shares *shares, uint64_t owner, uint64_t amount)
{
	uint64_t kept = account(owner) ? shares->whole / 8 : 0;
	uint64_t room = left(shares);

	return take(shares, owner, amount, room > kept ? room - kept : 0);
}

void shares_give(struct shares *shares, uint64_t owner, uint64_t amount)
{
	struct share *share = find(shares, owner);

	if (!share)
		return;
	if (amount > share->amount)
		amount = share->amount;
	shares->taken -= amount;
	share->amount -= amount;
	if (!share->amount)
		drop(shares, share);
}

bool shares_move(struct shares *shares, uint64_t from, uint64_t to, uint64_t amount)
{
	if (!shares_add(shares, to, amount)) {
		shares->taken -= amount;
		return false;
	}
	shares_give(shares, from, amount);
	return true;
}

bool shares_exceeded(const struct shares *shares, uint64_t owner)
{
	const struct share *share = find(shares, owner);

	return (share ? share->amount : 0) >= left(shares);
}

bool shares_largest(const struct shares *shares, uint64_t *ret_owner)
{
	const struct share *share, *largest = shares->by_owner;

	for (share = shares->by_owner; share; share = share->hh.next)
		if (share->amount > largest->amount)
			largest = share;
	if (largest)
		*ret_owner = largest->owner;
	return largest != NULL;
}

void shares_clear(struct shares *shares)
{
	struct share *share, *next;

	HASH_ITER (hh, shares->by_owner, share, next)
		drop(shares, share);
	shares->taken = 0;
}

struct shares *shares_now(struct shares_of_second *second, uint64_t whole, uint64_t now_ns)
{
	if (!second->began_ns || now_ns - second->began_ns >= NSEC_PER_SEC) {
		shares_clear(&second->shares);
		second->shares.whole = whole;
		second->began_ns = now_ns;
	}
	return &second->shares;
}
