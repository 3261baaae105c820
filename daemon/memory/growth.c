/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The tests of growth.h, cheapest first: nearly every process fails the first of them.
 */
#include "memory/growth.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>

#define OF(name) #name,
const char *const growth_of_names[GROWTH_OF_COUNT] = {GROWTH_OF(OF)};
#undef OF

enum {
	PARTS = 15, /* of a time; two seconds each of the shortest, in which a reading may be late
	             */
	PAIRS = PARTS * (PARTS - 1) / 2,
	RISING_PERCENT = 70, /* of the steps between parts */
	/* Mann-Kendall: the variance of the number of rising less falling pairs of PARTS values in
	 * no order is n (n-1) (2n+5) / 18 = 408; three standard deviations are 61. */
	SIGNIFICANT = 61,
	/* A third of the steps brings a third of the growth; half of that is demanded. */
	FAIR_SHARE = 6,
};

struct held {
	uint64_t ms, bytes;
};

struct past {
	struct held *at;
	size_t count;
	uint64_t least, most;
	uint64_t had; /* before it */
};

static uint64_t value_of(const struct memory_figures *figures, enum growth_of of)
{
	return of == GROWTH_heap ? figures->values[MEMORY_heap_inuse] : memory_held(figures);
}

/* One value of a point, from when on it counts. */
static int read_past(const struct series *series, const struct growth_ask *ask, struct past *past)
{
	struct series_cursor cursor = series_begin(series);
	struct series_point point;

	*past = (struct past){.least = UINT64_MAX, .had = ask->had_bytes};
	past->at = series->count ? calloc(series->count, sizeof(*past->at)) : NULL;
	if (series->count && !past->at)
		return -ENOMEM;
	while (series_next(&cursor, &point)) {
		struct held held = {point.ms, value_of(&point.figures, ask->of)};

		/* What held when the time begins counts from then. */
		if (held.ms < ask->from_ms) {
			held.ms = ask->from_ms;
			past->count = 0;
		}
		if (held.bytes == MEMORY_UNKNOWN)
			past->count = 0;
		else
			past->at[past->count++] = held;
	}
	for (size_t i = 0; i < past->count; i++) {
		if (past->at[i].bytes < past->least)
			past->least = past->at[i].bytes;
		if (past->at[i].bytes > past->most)
			past->most = past->at[i].bytes;
	}
	return 0;
}

/* The least that was held in each part of [begin, end], and the most before it. */
static uint64_t cut_in_parts(const struct past *past, uint64_t begin_ms, uint64_t end_ms,
                             uint64_t least[PARTS])
{
	uint64_t most_before = past->had;
	size_t i = 0;

	for (; i + 1 < past->count && past->at[i + 1].ms <= begin_ms; i++)
		if (past->at[i].bytes > most_before)
			most_before = past->at[i].bytes;
	for (uint64_t part = 0; part < PARTS; part++) {
		uint64_t part_end_ms = begin_ms + (end_ms - begin_ms) * (part + 1) / PARTS;

		least[part] = past->at[i].bytes;
		while (i + 1 < past->count && past->at[i + 1].ms < part_end_ms) {
			i++;
			if (past->at[i].bytes < least[part])
				least[part] = past->at[i].bytes;
		}
	}
	return most_before;
}

static int compare_slopes(const void *a, const void *b)
{
	const double *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/* Bytes a millisecond; and whether there is an order in them that is not chance's. */
static double median_slope(const uint64_t least[PARTS], double part_ms, bool *ret_significant)
{
	double slopes[PAIRS] = {0};
	int pairs = 0, order = 0;

	for (int from = 0; from < PARTS; from++) {
		for (int to = from + 1; to < PARTS; to++) {
			double difference = (double)least[to] - (double)least[from];

			slopes[pairs++] = difference / ((to - from) * part_ms);
			order += (difference > 0) - (difference < 0);
		}
	}
	qsort(slopes, PAIRS, sizeof(slopes[0]), compare_slopes);
	*ret_significant = order > SIGNIFICANT;
	return slopes[PAIRS / 2];
}

static bool rises_steadily(const uint64_t least[PARTS])
{
	uint64_t total = least[PARTS - 1] - least[0];
	int rising = 0;

	for (int i = 1; i < PARTS; i++)
		rising += least[i] > least[i - 1];
	if (rising * 100 < (PARTS - 1) * RISING_PERCENT)
		return false;
	for (int third = 0; third < 3; third++) {
		uint64_t from = least[third * (PARTS - 1) / 3];
		uint64_t to = least[(third + 1) * (PARTS - 1) / 3];

		if (to < from || to - from < total / FAIR_SHARE)
			return false;
	}
	return true;
}

static bool judge(const struct past *past, uint64_t begin_ms, uint64_t end_ms,
                  struct growth *growth)
{
	uint64_t least[PARTS];
	uint64_t before = cut_in_parts(past, begin_ms, end_ms, least);
	bool significant;
	double slope;

	if (before < least[0])
		before = least[0];
	if (least[PARTS - 1] < before + GROWTH_MIN_BYTES ||
	    least[PARTS - 1] - before < before / 100 * GROWTH_MIN_PERCENT || !rises_steadily(least))
		return false;
	slope = median_slope(least, (double)(end_ms - begin_ms) / PARTS, &significant);
	if (!significant || slope <= 0)
		return false;
	growth->leaking = true;
	growth->bytes_per_second = (uint64_t)(slope * 1000);
	growth->since_ms = begin_ms;
	return true;
}

int growth_judge(const struct series *series, const struct growth_ask *ask,
                 struct growth *ret_growth)
{
	_cleanup_free_ struct held *owned = NULL;
	struct growth growth = {.of = ask->of};
	uint64_t now_ms = ask->now_ms;
	struct past past;
	int err = read_past(series, ask, &past);

	owned = past.at;
	if (err)
		return err;
	if (past.count && past.most - past.least >= GROWTH_MIN_BYTES &&
	    now_ms > past.at[0].ms + GROWTH_MIN_MS) {
		uint64_t length_ms = now_ms - past.at[0].ms;

		while (!judge(&past, now_ms - length_ms, now_ms, &growth) &&
		       length_ms > GROWTH_MIN_MS)
			length_ms = length_ms / 2 > GROWTH_MIN_MS ? length_ms / 2 : GROWTH_MIN_MS;
	}
	*ret_growth = growth;
	return 0;
}
