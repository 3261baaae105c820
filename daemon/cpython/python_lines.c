/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A look-up is one pass over a table, from a mark up to the requested instruction. Tables belong to
 * the user that runs the program: sums are 64 bits wide, so that no table of a length that is read
 * can make them wrap, and a line that is not a positive int counts as no line. An instruction
 * without a line belongs to what the instruction before it does, and gets that instruction's line.
 */
#include "cpython/python_lines.h"

#include <limits.h>
#include <stdbool.h>

enum {
	VERSION_3_10 = 0x030a,
	VERSION_3_11 = 0x030b,
	NO_LINE_DELTA = -128, /* 3.10: these instructions have no line */
	UNIT_BYTES = 2,       /* 3.11 and later: of an instruction or an inline cache */
	ENTRY_BEGIN = 0x80,   /* 3.11 and later: only the first byte of an entry has this bit */
	VARINT_MORE = 0x40,
	VARINT_BITS = 6,
};

/* The meaning of 4 bits in an entry's first byte; with lower values the line does not change. */
enum entry_form {
	FORM_ONE_LINE_0 = 10, /* the line advances by the difference from this form */
	FORM_ONE_LINE_2 = 12,
	FORM_NO_COLUMNS = 13, /* a number follows */
	FORM_LONG = 14,       /* likewise, and more numbers behind it */
};

static uint32_t line_of(int64_t line)
{
	return line > 0 && line <= INT_MAX ? (uint32_t)line : 0;
}

/* 3.8, 3.9: pairs of bytes, the advance of the address and then of the line. The line continues
 * behind the last pair, so only an odd length shows that a table is truncated. */
static uint32_t line_by_pairs(const uint8_t *table, size_t len, struct line_place *place,
                              uint64_t offset)
{
	for (; place->at + 1 < len; place->at += 2) {
		uint64_t end = place->address + table[place->at];

		if (end > offset)
			return line_of(place->line);
		place->address = end;
		place->line += (int8_t)table[place->at + 1];
	}
	return len % 2 ? 0 : line_of(place->line);
}

/* 3.10: pairs of bytes, the length of a range and the difference of its line from that of the range
 * before. */
static uint32_t line_by_ranges(const uint8_t *table, size_t len, struct line_place *place,
                               uint64_t offset)
{
	for (; place->at + 1 < len; place->at += 2) {
		int8_t delta = (int8_t)table[place->at + 1];

		place->address += table[place->at];
		if (delta != NO_LINE_DELTA)
			place->line += delta;
		if (place->address > offset)
			return line_of(place->line);
	}
	return 0;
}

/* A number in pieces of 6 bits, the lowest first; the lowest bit of the number is its sign. False:
 * the table ends inside it, or it is wider than an int. */
static bool read_signed(const uint8_t *table, size_t len, size_t at, int64_t *ret_value)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; at < len && shift <= 30; shift += VARINT_BITS) {
		uint8_t byte = table[at++];

		value |= (uint64_t)(byte & (VARINT_MORE - 1)) << shift;
		if (!(byte & VARINT_MORE)) {
			*ret_value = value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
			return true;
		}
	}
	return false;
}

/* Reads the difference between the line of the entry at `at` and that of the entry before. */
static bool read_delta(const uint8_t *table, size_t len, size_t at, int64_t *ret_delta)
{
	enum entry_form form = table[at] >> 3 & 15;

	if (form == FORM_LONG || form == FORM_NO_COLUMNS)
		return read_signed(table, len, at + 1, ret_delta);
	*ret_delta =
		form >= FORM_ONE_LINE_0 && form <= FORM_ONE_LINE_2 ? form - FORM_ONE_LINE_0 : 0;
	return true;
}

/* 3.11 and later: entries with a form and a length, followed by the numbers of the form. */
static uint32_t line_by_entries(const uint8_t *table, size_t len, struct line_place *place,
                                uint64_t offset)
{
	int64_t delta;

	while (place->at < len) {
		if (!(table[place->at] & ENTRY_BEGIN) || !read_delta(table, len, place->at, &delta))
			return 0;
		place->line += delta;
		place->address += ((table[place->at] & 7U) + 1) * UNIT_BYTES;
		if (place->address > offset)
			return line_of(place->line);
		do
			place->at++;
		while (place->at < len && !(table[place->at] & ENTRY_BEGIN));
	}
	return 0;
}

static uint32_t line_from(uint32_t version, const uint8_t *table, size_t len,
                          struct line_place *place, uint64_t offset)
{
	if (version >= VERSION_3_11)
		return line_by_entries(table, len, place, offset);
	if (version >= VERSION_3_10)
		return line_by_ranges(table, len, place, offset);
	return line_by_pairs(table, len, place, offset);
}

uint32_t python_line(uint32_t version, const uint8_t *table, size_t len, struct line_place place,
                     uint32_t offset)
{
	return line_from(version, table, len, &place, offset);
}

/* The first place at or behind `at` where an entry begins. */
static size_t entry_from(uint32_t version, const uint8_t *table, size_t len, size_t at)
{
	while (version >= VERSION_3_11 && at < len && !(table[at] & ENTRY_BEGIN))
		at++;
	return at;
}

size_t python_line_marks(uint32_t version, const uint8_t *table, size_t len, uint32_t first_line,
                         struct line_place *marks)
{
	struct line_place place = line_start(first_line);
	size_t count = 0;

	for (size_t at = LINE_STEP; at < len; at += LINE_STEP) {
		size_t end = entry_from(version, table, len, at);

		line_from(version, table, end, &place, UINT64_MAX);
		if (end == len || place.at != end)
			break;
		marks[count++] = place;
	}
	return count;
}

struct line_place python_line_mark(const struct line_place *marks, size_t count,
                                   uint32_t first_line, uint32_t offset)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (marks[middle].address <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? marks[low - 1] : line_start(first_line);
}
