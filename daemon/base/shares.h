/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct shares - how much of a bounded whole each owner has, so that nobody takes what all share.
 * An owner may have as much as is left when he has it: one alone has half, the next one a third of
 * the whole, and for who comes new there is always some. An owner is a user; all of one account
 * (base/accounts.h) are the same. Numbers that no user can have are owners as well, each for
 * itself. Start with zeroes and the whole. Owned by one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct shares {
	uint64_t whole, taken;
	struct share *by_owner;
};

/* False: it would be more than his share, or there is no memory; he has what he had. */
bool shares_take(struct shares *shares, uint64_t owner, uint64_t amount);
/* The same where an eighth of the whole is kept for root. */
bool shares_take_beside_root(struct shares *shares, uint64_t owner, uint64_t amount);
/* The same for who may have all that is left. */
bool shares_take_left(struct shares *shares, uint64_t owner, uint64_t amount);
/* He has it, however much it is. False: out of memory; it counts for the whole alone. */
bool shares_add(struct shares *shares, uint64_t owner, uint64_t amount);
/* Gives back of what was taken. */
void shares_give(struct shares *shares, uint64_t owner, uint64_t amount);
/* Somebody else has what one has taken, however much it is. False: out of memory; he has it still.
 */
bool shares_move(struct shares *shares, uint64_t from, uint64_t to, uint64_t amount);
/* He has more than is left for all. */
bool shares_exceeded(const struct shares *shares, uint64_t owner);
/* Who has most; of several it is any. False: nobody has anything. */
bool shares_largest(const struct shares *shares, uint64_t *ret_owner);
void shares_clear(struct shares *shares); /* nobody has anything; also when done with */
