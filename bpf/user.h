/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How much of a ring buffer an account's programs have told that is not read yet, and what was not
 * told. Accounts have a place each in a map; some may have one together.
 */
#pragma once

#include "bpf/hash.h"

/* What programs of an account have told: up to `end`, a position of the ring, and behind it. Both
 * are no less than what of it is not read yet. */
struct ring_user {
	u64 before, since; /* bytes */
	u64 end;
	u64 last; /* a position behind all of them */
	u64 lost; /* events beyond their share, ever since; of GPUs also what found no room */
};

/* An account is found by a hash with a key, so that nobody can be another one's by choice; root has
 * a place of its own. */
static inline __attribute__((always_inline)) u32 account_place(const volatile struct hash_key *key,
                                                               u32 account)
{
	u64 hash = hash_mix(key, hash_begin(key, 0), account);

	return account ? 1 + (u32)(hash >> 32) % (ACCOUNT_PLACES - 1) : 0;
}
