/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Whether a process's memory grows as a leak does: steadily, for long, and to more than it ever
 * had. Judged is what it holds, or what its allocator has handed out: a heap that leaks into room
 * that it had before does not show in the former for long. Looked at are the last 30 seconds and
 * longer and longer times up to the whole past, the longest first; in each the least there was in
 * equal parts of the time, so that what an allocator or a garbage collector gives back again does
 * not count. It leaks in one of them when all hold:
 *
 *  - the median of all slopes between two parts (Theil-Sen) is above zero, and so many of the
 *    pairs rise that chance would do it once in a thousand times (Mann-Kendall, z > 3);
 *  - it grew by 16 MiB and by 10 %, above the most it ever held before that time: a saw-tooth whose
 *    teeth are longer than the time looked at does not;
 *  - 70 % of the parts hold more than the one before;
 *  - it grew in each third of the time, by half a fair share at least: a start-up that came to its
 *    end does not.
 *
 * A program that is still filling a cache looks the same: what is said is that it grows, since when
 * and how fast. Pure; any thread.
 */
#pragma once

#include "memory/series.h"

enum {
	GROWTH_MIN_MS = 30 * 1000,
	GROWTH_MIN_BYTES = 16 << 20,
	GROWTH_MIN_PERCENT = 10,
};

/* By the names that readers see: memory_held(); and heap_inuse, of which only what is known since
 * it was last unknown counts. */
#define GROWTH_OF(OF) OF(resident) OF(heap)

#define OF(name) GROWTH_##name,
enum growth_of { GROWTH_OF(OF) GROWTH_OF_COUNT };
#undef OF

extern const char *const growth_of_names[GROWTH_OF_COUNT];

struct growth {
	bool leaking;
	enum growth_of of; /* this and the rest only when it does */
	uint64_t bytes_per_second;
	uint64_t since_ms; /* by the clock of the series; it may be longer */
};

struct growth_ask {
	enum growth_of of;
	uint64_t from_ms; /* or from the first point */
	uint64_t now_ms;
	uint64_t had_bytes; /* so much it may have had before: growth is what goes above that */
};

/* 0 or -ENOMEM. */
int growth_judge(const struct series *series, const struct growth_ask *ask,
                 struct growth *ret_growth);
