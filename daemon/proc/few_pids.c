/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A short list, and a bitmap of pid modulo FEW_PIDS_BITS, which rules out most other pids.
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

/* The bit stays set, because other pids of the list may share it. */
void few_pids_take(struct few_pids *few, uint32_t pid)
{
	size_t at = find(few, pid);

	if (at == few->count)
		return;
	few->count--;
	memmove(&few->pids[at], &few->pids[at + 1], (few->count - at) * sizeof(*few->pids));
}
