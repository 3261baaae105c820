/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Gaps are the file bytes of executable segments minus the described ranges. Both are few enough to
 * be searched for each question instead of being subtracted once.
 */
#include "follow/follow_gaps.h"

#include <errno.h>

enum { READ_AHEAD_BYTES = 64 * 1024 };

int gaps_init(struct gaps *gaps, const struct elf *elf, const struct range *described, size_t count)
{
	*gaps = (struct gaps){.elf = elf, .described = described, .count = count};
	gaps->window = malloc(GAP_WINDOW_BYTES);
	return gaps->window ? 0 : -ENOMEM;
}

void gaps_end(struct gaps *gaps)
{
	free(gaps->window);
}

static bool segment_range(const struct segment *segment, struct range *ret_range)
{
	uint64_t end;

	if (!segment->executable || !segment->file_bytes ||
	    __builtin_add_overflow(segment->address, segment->file_bytes, &end))
		return false;
	*ret_range = (struct range){.start = segment->address, .end = end};
	return true;
}

/* The first described range that ends above the address; `count` when there is none. */
static size_t described_above(const struct gaps *gaps, uint64_t address)
{
	size_t low = 0, high = gaps->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (gaps->described[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* The first gap of one segment that ends above the address. */
static bool gap_in(const struct gaps *gaps, struct range segment, uint64_t address,
                   struct range *ret_gap)
{
	uint64_t from = segment.start;
	size_t i = described_above(gaps, address > from ? address : from);

	if (i > 0 && gaps->described[i - 1].end > from)
		from = gaps->described[i - 1].end;
	while (i < gaps->count && gaps->described[i].start <= (from > address ? from : address))
		from = gaps->described[i++].end;
	if (i < gaps->count && gaps->described[i].start < segment.end)
		segment.end = gaps->described[i].start;
	if (from >= segment.end)
		return false;
	*ret_gap = (struct range){.start = from, .end = segment.end};
	return true;
}

bool gaps_above(const struct gaps *gaps, uint64_t address, struct range *ret_gap)
{
	size_t count;
	const struct segment *segments = elf_segments(gaps->elf, &count);
	bool found = false;

	for (size_t i = 0; i < count; i++) {
		struct range segment, gap;

		if (!segment_range(&segments[i], &segment) || segment.end <= address ||
		    !gap_in(gaps, segment, address, &gap))
			continue;
		if (!found || gap.start < ret_gap->start)
			*ret_gap = gap;
		found = true;
	}
	return found;
}

/* A fast check. When only a part of a file is followed, the first and the last described range
 * cover the rest of the file, where most addresses are. */
static bool is_outside(const struct gaps *gaps, uint64_t address)
{
	const struct range *described = gaps->described;

	return gaps->count &&
	       (address < described[0].end || address >= described[gaps->count - 1].start) &&
	       (address >= described[0].start && address < described[gaps->count - 1].end);
}

bool gaps_find(const struct gaps *gaps, uint64_t address, struct range *ret_gap)
{
	struct range gap;

	if (is_outside(gaps, address) || !gaps_above(gaps, address, &gap) || gap.start > address)
		return false;
	*ret_gap = gap;
	return true;
}

/* Reads a little more than wanted, because the next request is often near. */
static bool fill(struct gaps *gaps, uint64_t start, size_t wanted)
{
	size_t count;
	const struct segment *segments = elf_segments(gaps->elf, &count);
	struct range range;

	gaps->window_bytes = 0;
	for (size_t i = 0; i < count; i++) {
		if (!segment_range(&segments[i], &range) || start < range.start ||
		    start >= range.end)
			continue;
		uint64_t left = range.end - start;
		size_t len = left < wanted + READ_AHEAD_BYTES ? left : wanted + READ_AHEAD_BYTES;
		len = len < GAP_WINDOW_BYTES ? len : GAP_WINDOW_BYTES;
		if (elf_read_address(gaps->elf, start, gaps->window, len))
			continue;
		gaps->window_start = start;
		gaps->window_bytes = len;
		return true;
	}
	return false;
}

static size_t bytes_at(const struct gaps *gaps, uint64_t start)
{
	if (start < gaps->window_start || start - gaps->window_start >= gaps->window_bytes)
		return 0;
	return gaps->window_bytes - (start - gaps->window_start);
}

const uint8_t *gaps_read(struct gaps *gaps, uint64_t start, uint64_t end, size_t *ret_len)
{
	size_t wanted = end - start < GAP_WINDOW_BYTES ? end - start : GAP_WINDOW_BYTES;

	if (bytes_at(gaps, start) < wanted && !fill(gaps, start, wanted))
		return NULL;
	size_t len = bytes_at(gaps, start);
	*ret_len = len < wanted ? len : wanted;
	return gaps->window + (start - gaps->window_start);
}
