/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Judges whether a process's memory grows as in a leak, by the memory that the process holds or by
 * its live allocations: a heap that leaks into memory that the process held before does not show in
 * the former for a long time. A line is fitted (trend.h) through the floors of each window that
 * floors.h keeps, from the last two minutes to the whole past. The process leaks when one of these
 * lines rises, and
 *
 *  - surely so: its bound at three standard deviations is above zero;
 *  - by 16 MiB and by 1 %; in the window of two minutes by four times as much, in that of four
 *    minutes by twice as much. Growth counts from the highest floor that longer windows show
 *    before this window: a process that returns to a size that it once held for long does not
 *    leak, nor does one whose memory goes up and down over hours. Half of the largest earlier fall
 *    is added to that floor, because the highs of a process are not equally high;
 *  - without giving back half of the growth meanwhile, as a saw-tooth does;
 *  - not in two steps: that is a table that was enlarged;
 *  - as fast at the end as at the beginning, and as fast as the lines through longer windows: a
 *    cache fills more and more slowly.
 *
 * A process that was called a leak stays one until it has failed the same tests, half as strict,
 * four times in a row. So a process that stops leaking is cleared after about half the time for
 * which it leaked, and one that gives back what it took within half a minute.
 *
 * Limits of the method: a cache that fills at a constant rate is called a leak until it is full. A
 * cache that fills exponentially is called one for two to three times its time constant, when that
 * is above three minutes. A saw-tooth is called one in a first tooth that is longer than four
 * minutes. The result is only that memory grows, how fast, and with which confidence. Pure; any
 * thread.
 */
#pragma once

#include "memory/floors.h"

enum {
	GROWTH_MIN_BYTES = 16 << 20,
	GROWTH_MIN_PERCENT = 1,
};

/* The figures that are judged, under the names that clients see: memory_held(), and heap_inuse. */
#define GROWTH_OF(FIGURE) FIGURE(resident) FIGURE(heap)

#define FIGURE(name) GROWTH_##name,
enum growth_of { GROWTH_OF(FIGURE) GROWTH_OF_COUNT };
#undef FIGURE

extern const char *const growth_of_names[GROWTH_OF_COUNT];

struct growth {
	bool leaking;
	uint8_t doubts;    /* judgements in a row that the process does not leak */
	enum growth_of of; /* this and the following are valid only when leaking */
	uint64_t bytes_per_second;
	/* The bounds of the rate, with a confidence of 95 %. */
	uint64_t low_bytes_per_second, high_bytes_per_second;
	uint64_t since_ms; /* by the clock of the floors; the leak may have begun earlier */
};

/* `had_bytes`: the process may have held as much before its floors began, so only what exceeds that
 * is growth. `growth` is the last judgement of the same floors, or zeroes; the caller sets `of`. */
void growth_judge(const struct floors *floors, uint64_t had_bytes, struct growth *growth);
