/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct shares - how much of a bounded resource each owner holds, so that no owner takes all of
 * it. An owner may hold at most as much as is left afterwards: a single owner gets half of the
 * whole, two owners that take alternately get a third each, and something is always left for a new
 * owner. An owner is a user; all users of one account (base/accounts.h) are the same owner. Numbers
 * that no user can have are owners as well, each for itself. Initialize with zeroes and `whole`.
 * Owned by one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct shares {
	uint64_t whole, taken;
	struct share *by_owner;
};

/* Charges the amount to the owner. False: it would exceed the owner's share, or out of memory;
 * nothing changes then. */
bool shares_take(struct shares *shares, uint64_t owner, uint64_t amount);
/* The same where an eighth of the whole is kept for root. */
bool shares_take_beside_root(struct shares *shares, uint64_t owner, uint64_t amount);
/* The same for an owner that may take all that is left. */
bool shares_take_left(struct shares *shares, uint64_t owner, uint64_t amount);
/* Charges the amount to the owner without checking the share. False: out of memory; only the total
 * is charged then. */
bool shares_add(struct shares *shares, uint64_t owner, uint64_t amount);
/* Returns an amount that the owner took; at most what it holds. */
void shares_give(struct shares *shares, uint64_t owner, uint64_t amount);
/* Moves an amount from one owner to another without checking the share of the latter. False: out of
 * memory; `from` keeps the amount. */
bool shares_move(struct shares *shares, uint64_t from, uint64_t to, uint64_t amount);
/* Whether the owner holds at least as much as is left for all. */
bool shares_exceeded(const struct shares *shares, uint64_t owner);
/* The owner that holds most, any one of several that hold the same. False: no owner holds
 * anything. */
bool shares_largest(const struct shares *shares, uint64_t *ret_owner);
void shares_clear(struct shares *shares); /* releases all amounts; also the destructor */

/* Shares of what there is in each second. Initialize with zeroes; shares_clear() for `shares`. */
struct shares_of_second {
	uint64_t began_ns;
	struct shares shares;
};

/* The shares of the second that `now_ns` is in. */
struct shares *shares_now(struct shares_of_second *second, uint64_t whole, uint64_t now_ns);
