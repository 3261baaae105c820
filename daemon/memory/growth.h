/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Whether a process's memory grows as a leak does. Judged is what it holds, or what its allocator
 * has handed out: a heap that leaks into room that it had before does not show in the former for
 * long. A line is fitted (trend.h) through the floors of each of the times that floors.h knows,
 * from the last two minutes to the whole past. It leaks when one of these lines rises, and
 *
 *  - surely so: its bound at three standard deviations is above zero;
 *  - by 16 MiB and by 1 %, of the last two minutes by four times as much, of the last four by
 *    twice. Growth counts from the highest floor that longer times know from before: a process that
 *    comes back to what it held once, for long, does not leak, nor does one whose memory goes up
 *    and down over hours. Half of what it was seen to give back is added to that, for its highs
 *    are not equally high;
 *  - without giving back half of it meanwhile, as a saw-tooth does;
 *  - not in two steps: that is a table that was made larger;
 *  - as fast in the end as in the beginning, and as fast as the lines through longer times: what
 *    fills a cache slows down.
 *
 * What was called a leak is called so until it clearly is none: until it fails the same tests, half
 * as strict, four times in a row. So a process that stops leaking is cleared after about half the
 * time for which it leaked, and one that gives back what it took within half a minute.
 *
 * What cannot be told: a cache that fills at a constant rate is called a leak until it is full, and
 * one that fills exponentially for two to three times its time constant, where that is above three
 * minutes; a saw-tooth is, in a first tooth that is longer than four minutes. What is said is that
 * it grows, how fast, and how sure that is. Pure; any thread.
 */
#pragma once

#include "memory/floors.h"

enum {
	GROWTH_MIN_BYTES = 16 << 20,
	GROWTH_MIN_PERCENT = 1,
};

/* By the names that readers see: memory_held(); and heap_inuse. */
#define GROWTH_OF(OF) OF(resident) OF(heap)

#define OF(name) GROWTH_##name,
enum growth_of { GROWTH_OF(OF) GROWTH_OF_COUNT };
#undef OF

extern const char *const growth_of_names[GROWTH_OF_COUNT];

struct growth {
	bool leaking;
	uint8_t doubts;    /* judgements in a row that it does not */
	enum growth_of of; /* this and the rest only when it does */
	uint64_t bytes_per_second;
	/* Between these the line is, with a confidence of 95 %. */
	uint64_t low_bytes_per_second, high_bytes_per_second;
	uint64_t since_ms; /* by the clock of the floors; it may be longer */
};

/* `had_bytes`: so much it may have held before that is not known: growth is what goes above that.
 * `growth` is what the last judgement of the same floors was, or zeroes; `of` is the caller's. */
void growth_judge(const struct floors *floors, uint64_t had_bytes, struct growth *growth);
