/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Finds an account in the ranges that the daemon has written.
 */
#include "bpf/user.bpf.h"

struct account_map account_ranges SEC(".maps");

const volatile u32 account_count = 0;

enum { ACCOUNT_BITS = 17 }; /* 2^17 is more than there may be ranges */

/* A binary search for the last range that begins at or before `user`, from the greatest step down
 * to one. It has no branch on what is found: the verifier would check each path. */
__noinline u32 user_account(u32 user)
{
	const struct account_range *range;
	u32 found = 0, at;

	if (!account_count)
		return user;
	for (u32 step = 1u << (ACCOUNT_BITS - 1); step; step /= 2) {
		at = found + step - 1;
		range = bpf_map_lookup_elem(&account_ranges, &at);
		if (range)
			found += step * (u32)(((u64)range->first - user - 1) >> 63);
	}
	at = found - 1;
	range = bpf_map_lookup_elem(&account_ranges, &at);
	return range && user <= range->last ? range->account : user;
}
