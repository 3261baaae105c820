/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A list in the order of deadlines.
 */
#include "access/arrivals.h"

#include "base/clock.h"

#include <stddef.h>

/* As documented in profd-security(7). */
static const uint64_t patience_ns = 15 * NSEC_PER_SEC;

void arrivals_await(struct arrivals *arrivals, struct arrival *arrival, uint64_t now_mono_ns)
{
	arrivals_end(arrivals, arrival);
	arrival->due_mono_ns = now_mono_ns + patience_ns;
	arrival->prev = arrivals->last;
	if (arrivals->last)
		arrivals->last->next = arrival;
	else
		arrivals->first = arrival;
	arrivals->last = arrival;
}

void arrivals_end(struct arrivals *arrivals, struct arrival *arrival)
{
	if (!arrival->due_mono_ns)
		return;
	if (arrival->prev)
		arrival->prev->next = arrival->next;
	else
		arrivals->first = arrival->next;
	if (arrival->next)
		arrival->next->prev = arrival->prev;
	else
		arrivals->last = arrival->prev;
	*arrival = (struct arrival){0};
}

struct arrival *arrivals_take_late(struct arrivals *arrivals, uint64_t now_mono_ns)
{
	struct arrival *first = arrivals->first;

	if (!first || first->due_mono_ns > now_mono_ns)
		return NULL;
	arrivals_end(arrivals, first);
	return first;
}
