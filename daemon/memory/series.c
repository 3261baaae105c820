/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A point consists of the milliseconds since the last point, a bit mask of the figures that
 * changed, and their differences, all as varints of protobuf. Differences are in zigzag encoding,
 * so that small negative ones are short as well.
 */
#include "memory/series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_VARINT_BYTES = 10,
	MAX_POINT_BYTES = (2 + MEMORY_FIGURE_COUNT) * MAX_VARINT_BYTES,
	MAX_SERIES_BYTES = 1 << 20, /* 40 hours of a busy process */
};

_Static_assert(MEMORY_FIGURE_COUNT <= 32, "a bit each");

/* KiB plus one, so that 0 means unknown and needs no special case. */
static uint64_t packed(uint64_t bytes)
{
	return bytes == MEMORY_UNKNOWN ? 0 : bytes / 1024 + 1;
}

static uint64_t unpacked(uint64_t value)
{
	return value ? (value - 1) * 1024 : MEMORY_UNKNOWN;
}

static uint64_t zigzag(uint64_t difference)
{
	return difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0);
}

static uint64_t unzigzag(uint64_t value)
{
	return value >> 1 ^ (value & 1 ? UINT64_MAX : 0);
}

static uint8_t *put(uint8_t *at, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*at++ = (uint8_t)(value | 0x80);
	*at++ = (uint8_t)value;
	return at;
}

static uint64_t get(const uint8_t *bytes, uint32_t *at)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = bytes[(*at)++];
		value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

void series_release(struct series *series)
{
	free(series->bytes);
	*series = (struct series){0};
}

int series_copy(const struct series *from, struct series *ret_series)
{
	struct series copy = *from;

	copy.start = 0;
	copy.end = copy.capacity = from->end - from->start;
	copy.bytes = copy.end ? malloc(copy.end) : NULL;
	if (copy.end && !copy.bytes)
		return -ENOMEM;
	if (copy.end)
		memcpy(copy.bytes, from->bytes + from->start, copy.end);
	*ret_series = copy;
	return 0;
}

size_t series_bytes(const struct series *series)
{
	return series->capacity;
}

/* Moves the points to the front of the buffer and changes its capacity. */
static int resize(struct series *series, uint32_t capacity)
{
	uint32_t used = series->end - series->start;
	uint8_t *bytes;

	if (series->start)
		memmove(series->bytes, series->bytes + series->start, used);
	series->start = 0;
	series->end = used;
	if (capacity == series->capacity)
		return 0;
	if (capacity > MAX_SERIES_BYTES)
		return -EFBIG;
	bytes = realloc(series->bytes, capacity);
	if (!bytes)
		return -ENOMEM;
	series->bytes = bytes;
	series->capacity = capacity;
	return 0;
}

/* One and a half times the used size, so that the amortized cost of moving a byte is constant. */
static uint32_t roomy(uint32_t used)
{
	return used + used / 2 + MAX_POINT_BYTES;
}

static int make_room(struct series *series)
{
	uint32_t used = series->end - series->start;

	if (series->end + MAX_POINT_BYTES <= series->capacity)
		return 0;
	if (series->start > series->capacity / 4 && used + MAX_POINT_BYTES <= series->capacity)
		return resize(series, series->capacity);
	return resize(series, roomy(used));
}

static uint32_t changed_figures(const struct memory_figures *a, const struct memory_figures *b)
{
	uint32_t changed = 0;

	for (uint32_t i = 0; i < MEMORY_FIGURE_COUNT; i++)
		if (a->values[i] != b->values[i])
			changed |= 1U << i;
	return changed;
}

static void append(struct series *series, const struct series_point *point, uint32_t changed)
{
	uint8_t *at = series->bytes + series->end;

	at = put(at, point->ms - series->last.ms);
	at = put(at, changed);
	for (uint32_t i = 0; i < MEMORY_FIGURE_COUNT; i++)
		if (changed & 1U << i)
			at = put(at, zigzag(packed(point->figures.values[i]) -
			                    packed(series->last.figures.values[i])));
	series->end = (uint32_t)(at - series->bytes);
}

int series_add(struct series *series, const struct series_point *point)
{
	struct series_point rounded = *point;
	uint32_t changed;
	int err;

	for (int i = 0; i < MEMORY_FIGURE_COUNT; i++)
		rounded.figures.values[i] = unpacked(packed(point->figures.values[i]));
	if (series->count) {
		changed = changed_figures(&series->last.figures, &rounded.figures);
		if (!changed || rounded.ms < series->last.ms)
			return 0;
		err = make_room(series);
		if (err)
			return err;
		append(series, &rounded, changed);
	} else {
		series->first = rounded;
	}
	series->last = rounded;
	series->count++;
	return 0;
}

int series_hold(struct series *series, uint64_t ms)
{
	struct series_point point = {ms, series->last.figures};
	int err;

	if (!series->count || ms <= series->last.ms)
		return 0;
	err = make_room(series);
	if (err)
		return err;
	append(series, &point, 0);
	series->last = point;
	series->count++;
	return 0;
}

/* Turns `point` into the point after it, which is encoded at `at`. */
static void decode(const struct series *series, struct series_point *point, uint32_t *at)
{
	uint32_t changed;

	point->ms += get(series->bytes, at);
	changed = (uint32_t)get(series->bytes, at);
	for (uint32_t i = 0; i < MEMORY_FIGURE_COUNT; i++) {
		uint64_t *value = &point->figures.values[i];

		if (changed & 1U << i)
			*value = unpacked(packed(*value) + unzigzag(get(series->bytes, at)));
	}
}

void series_expire(struct series *series, uint64_t ms)
{
	while (series->count > 1) {
		struct series_point next = series->first;
		uint32_t at = series->start;

		decode(series, &next, &at);
		if (next.ms > ms)
			break;
		series->first = next;
		series->start = at;
		series->count--;
	}
	if (series->count == 1) {
		free(series->bytes);
		series->bytes = NULL;
		series->start = series->end = series->capacity = 0;
	} else if (series->start > series->capacity / 2) {
		resize(series, roomy(series->end - series->start));
	}
}

bool series_next(struct series_cursor *cursor, struct series_point *ret_point)
{
	const struct series *series = cursor->series;

	if (!cursor->begun) {
		if (!series->count)
			return false;
		cursor->begun = true;
		cursor->point = series->first;
		cursor->at = series->start;
	} else {
		if (cursor->at >= series->end)
			return false;
		decode(series, &cursor->point, &cursor->at);
	}
	*ret_point = cursor->point;
	return true;
}
