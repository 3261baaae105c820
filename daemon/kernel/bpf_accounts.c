/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Copies the ranges of subordinate user ids into the map account_ranges. Both structs have the same
 * layout.
 */
#include "kernel/bpf_accounts.h"

#include "base/accounts.h"
#include "base/cleanup.h"
#include "bpf/abi.h"
#include "bpf/profd.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

_Static_assert(sizeof(struct account_ids) == sizeof(struct account_range) &&
                       offsetof(struct account_ids, account) ==
                               offsetof(struct account_range, account),
               "copied as they are");

int bpf_accounts_size(struct profd_bpf *skeleton)
{
	size_t count;

	accounts_ids(&count);
	skeleton->rodata->account_count = (u32)count;
	return bpf_map__set_max_entries(skeleton->maps.account_ranges, count ? (u32)count : 1);
}

int bpf_accounts_tell(const struct profd_bpf *skeleton)
{
	size_t count;
	const struct account_ids *ranges = accounts_ids(&count);
	_cleanup_free_ u32 *keys = calloc(count ?: 1, sizeof(*keys));
	u32 told = (u32)count;

	if (!keys)
		return -ENOMEM;
	for (u32 i = 0; i < count; i++)
		keys[i] = i;
	return count ? bpf_map_update_batch(bpf_map__fd(skeleton->maps.account_ranges), keys,
	                                    ranges, &told, NULL)
	             : 0;
}
