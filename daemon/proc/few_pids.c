/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A short list, and a bit for each of its pids, which most others do not share.
 */
#include "proc/few_pids.h"

#include <string.h>

static size_t find(const struct few_pids *few, uint32_t pid)
{
	size_t at = 0;

	while (at < few->count && few->pids[at] != pid)
		at++;
	return at;
}

void few_pids_add(struct few_pids *few, uint32_t pid)
{
	if (few->count == MAX_QUERY_VALUES || find(few, pid) < few->count)
		return;
	few->pids[few->count++] = pid;
	few->bits[pid % FEW_PIDS_BITS / 64] |= 1ULL << pid % 64;
}

/* Its bit stays, which others may have, too. */
void few_pids_take(struct few_pids *few, uint32_t pid)
{
	size_t at = find(few, pid);

	if (at == few->count)
		return;
	few->count--;
	memmove(&few->pids[at], &few->pids[at + 1], (few->count - at) * sizeof(*few->pids));
}
