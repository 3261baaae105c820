/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How many bytes of a ring buffer the programs of an account have written that are not read yet,
 * and what was lost. Each account has a place in a map; several accounts may share a place.
 */
#pragma once

#include "bpf/hash.h"

/* Bytes that the programs of an account have written: `before` up to `end`, a position of the ring,
 * and `since` behind it. Each is at least the number of those bytes that are not read yet. */
struct ring_user {
	u64 before, since; /* bytes */
	u64 end;
	u64 last; /* a position behind all of these bytes */
	u64 lost; /* events lost for want of a share; for GPUs also for want of room */
};

/* The place of an account is found by a hash with a key, so that no user can choose to share
 * another's place; root has a place of its own. */
static inline __attribute__((always_inline)) u32 account_place(const volatile struct hash_key *key,
                                                               u32 account)
{
	u64 hash = hash_mix(key, hash_begin(key, 0), account);

	return account ? 1 + (u32)(hash >> 32) % (ACCOUNT_PLACES - 1) : 0;
}
