/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Searches for bytes, because nothing in a file points to a restorer except the code that installs
 * it.
 */
#include "follow/follow_signal.h"

#include <string.h>

/* rt_sigreturn, number 15: the immediate and the system call are the same in both encodings. */
static const uint8_t common[] = {0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};
static const struct {
	uint8_t bytes[3], len;
} before[] = {
	{{0x48, 0xc7, 0xc0}, 3}, /* mov $15, %rax */
	{{0xb8}, 1},             /* mov $15, %eax */
};

static int tell(uint64_t gap_start, uint64_t start, uint64_t end, frame_row_fn *fn, void *ctx)
{
	struct frame_row row = {
		.start = start > gap_start ? start - 1 : start,
		.end = end,
		.cfa = {.kind = CFA_REGISTER, .reg = 7, .offset = 8},
		.fp = {.kind = SAVE_SAME},
		.ra = {.kind = SAVE_AT_CFA, .offset = -8},
		.signal_frame = true,
	};

	return fn(&row, ctx);
}

/* The length of the move instruction that ends at `at`, or 0. */
static size_t move_before(const uint8_t *bytes, size_t at)
{
	for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++) {
		size_t len = before[i].len;

		if (at >= len && !memcmp(bytes + at - len, before[i].bytes, len))
			return len;
	}
	return 0;
}

static int search(const uint8_t *bytes, size_t len, uint64_t address, uint64_t gap_start,
                  frame_row_fn *fn, void *ctx)
{
	const uint8_t *from = bytes, *found;
	int result = 0;

	while (!result &&
	       (found = memmem(from, len - (size_t)(from - bytes), common, sizeof(common)))) {
		size_t at = (size_t)(found - bytes);
		size_t move = move_before(bytes, at);

		from = found + 1;
		if (move)
			result = tell(gap_start, address + at - move, address + at + sizeof(common),
			              fn, ctx);
	}
	return result;
}

int follow_signal_restorers(struct gaps *gaps, frame_row_fn *fn, void *ctx)
{
	/* Pieces overlap by the length of the longest restorer minus one byte, so that none is
	 * missed at a border. */
	const size_t overlap = sizeof(before->bytes) + sizeof(common) - 1;
	struct range gap = {0};
	int result = 0;

	while (!result && gaps_above(gaps, gap.end, &gap)) {
		uint64_t at = gap.start;

		while (!result && gap.end - at > overlap) {
			size_t len;
			const uint8_t *bytes = gaps_read(gaps, at, gap.end, &len);

			if (!bytes)
				break;
			result = search(bytes, len, at, gap.start, fn, ctx);
			if (len <= overlap || len == gap.end - at)
				break;
			at += len - overlap;
		}
	}
	return result;
}
