/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The frees are in no order.
 */
#include "allocators/early.h"

#include "base/clock.h"

/* How far out of order events may be: CPUs are drained one after the other. */
static const uint64_t wait_ns = NSEC_PER_SEC;

static void drop(struct early *early, size_t at)
{
	early->frees[at] = early->frees[--early->count];
}

void early_add(struct early *early, uint64_t address, uint64_t time_ns)
{
	if (early->count == MAX_EARLY) {
		size_t oldest = 0;
		for (size_t i = 1; i < MAX_EARLY; i++) {
			if (early->frees[i].time_ns < early->frees[oldest].time_ns)
				oldest = i;
		}
		early->given_up++;
		drop(early, oldest);
	}
	early->frees[early->count].address = address;
	early->frees[early->count++].time_ns = time_ns;
}

bool early_take(struct early *early, uint64_t address, uint64_t time_ns)
{
	size_t found = MAX_EARLY;

	for (size_t i = 0; i < early->count;) {
		uint64_t freed_ns = early->frees[i].time_ns;

		if (freed_ns < time_ns && time_ns - freed_ns > wait_ns) {
			early->given_up++;
			drop(early, i);
			continue;
		}
		if (early->frees[i].address == address && freed_ns > time_ns &&
		    (found == MAX_EARLY || freed_ns < early->frees[found].time_ns))
			found = i;
		i++;
	}
	if (found == MAX_EARLY)
		return false;
	drop(early, found);
	return true;
}
