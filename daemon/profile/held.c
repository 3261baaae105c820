/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One sum for the daemon, because it has one memory.
 */
#include "profile/held.h"

#include "base/shares.h"

#include <errno.h>

static struct shares all = {.whole = MAX_HELD_BYTES};

int held_take(struct held *held, uint64_t account, size_t bytes)
{
	if (account ? !shares_take_beside_root(&all, account, bytes)
	            : !shares_take_left(&all, account, bytes))
		return -ENOBUFS;
	*held = (struct held){account, bytes};
	return 0;
}

void held_give(struct held *held)
{
	shares_give(&all, held->account, held->bytes);
	*held = (struct held){0};
}
