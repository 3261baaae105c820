/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct shares - how much of a bounded whole each owner has, so that nobody takes what all share.
 * An owner may have as much as is left when he has it: one alone has half, the next one a third of
 * the whole, and for who comes new there is always some. An owner is a user; all of one account
 * (base/accounts.h) are the same. Start with zeroes and the whole. Owned by one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct shares {
	uint64_t whole, taken;
	struct share *by_owner;
};

/* False: it would be more than his share, or there is no memory; he has what he had. */
bool shares_take(struct shares *shares, uint32_t owner, uint64_t amount);
/* The same where an eighth of the whole is kept for root. */
bool shares_take_beside_root(struct shares *shares, uint32_t owner, uint64_t amount);
/* He has it, however much it is. False: out of memory; it counts for the whole alone. */
bool shares_add(struct shares *shares, uint32_t owner, uint64_t amount);
/* Gives back of what was taken. */
void shares_give(struct shares *shares, uint32_t owner, uint64_t amount);
/* He has more than is left for all. */
bool shares_exceeded(const struct shares *shares, uint32_t owner);
/* Who has most; of several it is any. False: nobody has anything. */
bool shares_largest(const struct shares *shares, uint32_t *ret_owner);
void shares_clear(struct shares *shares); /* nobody has anything; also when done with */
