/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "jit/jit_ranges.h"

#include <errno.h>
#include <stdlib.h>

size_t jit_ranges_join(const struct jit_range *one, size_t one_count, const struct jit_range *other,
                       size_t other_count, struct jit_range *out)
{
	size_t i = 0, j = 0, count = 0;

	while (i < one_count || j < other_count) {
		bool is_one = j == other_count || (i < one_count && one[i].start <= other[j].start);
		struct jit_range range = is_one ? one[i++] : other[j++];

		if (!count || range.start > out[count - 1].end)
			out[count++] = range;
		else if (out[count - 1].end < range.end)
			out[count - 1].end = range.end;
	}
	return count;
}

int jit_ranges_add(struct jit_ranges *ranges, const struct jit_range *more, size_t count)
{
	struct jit_range *out;

	if (!count)
		return 0;
	out = calloc(ranges->count + count, sizeof(*out));
	if (!out)
		return -ENOMEM;
	ranges->count = jit_ranges_join(ranges->at, ranges->count, more, count, out);
	free(ranges->at);
	ranges->at = out;
	return 0;
}

bool jit_ranges_have(const struct jit_ranges *ranges, uint64_t address)
{
	size_t low = 0, high = ranges->count;

	/* The first range that ends after the address. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges->at[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < ranges->count && ranges->at[low].start <= address;
}

void jit_ranges_release(struct jit_ranges *ranges)
{
	free(ranges->at);
	*ranges = (struct jit_ranges){0};
}
