/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A list, and a bitmap of all pids that the kernel can assign, so that no pid is in the list twice.
 */
#include "base/pid_set.h"

#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>

enum { PIDS = 1 << 22, BITS = 64 };

int pid_set_init(struct pid_set *set, size_t limit)
{
	*set = (struct pid_set){.limit = limit};
	set->known = calloc(PIDS / BITS, sizeof(*set->known));
	set->pids = calloc(limit, sizeof(*set->pids));
	if (set->known && set->pids)
		return 0;
	pid_set_release(set);
	return -ENOMEM;
}

void pid_set_release(struct pid_set *set)
{
	free(set->known);
	free(set->pids);
	*set = (struct pid_set){0};
}

void pid_set_add(struct pid_set *set, uint32_t pid)
{
	uint64_t bit = 1ULL << pid % BITS;

	if (!pid || pid >= PIDS || set->known[pid / BITS] & bit)
		return;
	if (set->count == set->limit) {
		set->overflown = true;
		return;
	}
	set->known[pid / BITS] |= bit;
	set->pids[set->count++] = pid;
}

uint32_t pid_set_take(struct pid_set *set)
{
	uint32_t pid;

	if (!set->count)
		return 0;
	pid = set->pids[--set->count];
	set->known[pid / BITS] &= ~(1ULL << pid % BITS);
	return pid;
}

bool pid_set_take_some(struct pid_set *set, pid_set_fn *fn, void *ctx)
{
	uint64_t until_ns = clock_mono_ns() + PID_SET_PIECE_MS * NSEC_PER_MSEC;
	uint32_t pid;

	while ((pid = pid_set_take(set))) {
		fn(pid, ctx);
		if (clock_mono_ns() >= until_ns)
			break;
	}
	return set->count;
}

bool pid_set_move(struct pid_set *from, struct pid_set *to)
{
	bool more = from->overflown;
	uint32_t pid;

	while ((pid = pid_set_take(from)))
		pid_set_add(to, pid);
	from->overflown = false;
	return more;
}
