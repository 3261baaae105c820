/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct event_pace - how much of the loop's time reading events may take: a third in the long run,
 * and some tens of milliseconds at once after a pause. Initialize with zeroes. Pure.
 */
#pragma once

#include "base/clock.h"

enum {
	EVENT_PACE_PARTS = 3,      /* each time is followed by twice that time for other work */
	EVENT_PACE_SAVED_MS = 150, /* time that is saved up, a third of which reading may take */
};

struct event_pace {
	uint64_t spent_ns; /* all time before this moment is spent; some after it, if it is later */
};

/* Spends the time that reading took until now. */
static inline void event_pace_spend(struct event_pace *pace, uint64_t now_ns, uint64_t took_ns)
{
	const uint64_t saved_ns = EVENT_PACE_SAVED_MS * NSEC_PER_MSEC;

	if (pace->spent_ns + saved_ns < now_ns)
		pace->spent_ns = now_ns - saved_ns;
	pace->spent_ns += took_ns * EVENT_PACE_PARTS;
}

/* Time until there may be more reading, rounded up; 0: now. */
static inline uint64_t event_pace_wait_ms(const struct event_pace *pace, uint64_t now_ns)
{
	if (pace->spent_ns <= now_ns)
		return 0;
	return (pace->spent_ns - now_ns + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC;
}
