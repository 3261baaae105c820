/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Only the range of each entry is read, never its instructions. One pass over a section serves any
 * number of addresses.
 */
#include "cfi/frame_sections.h"
#include "cfi/function_bounds.h"

#include <errno.h>

struct search {
	const struct elf *elf;
	struct frame_section section;
	struct cie_cache cache;
	const uint64_t *addresses;
	size_t count;
	/* A binary tree over the addresses. An entry is noted at the few nodes that make up its
	 * range, not at each address, so entries that overlap cost no more. */
	struct bounds *tree;
};

/* Whether `a` is the better answer where both cover an address. Functions do not overlap, so where
 * entries do, the shorter one is more precise. The result does not depend on the order of
 * entries. */
static bool is_better(const struct bounds *a, const struct bounds *b)
{
	uint64_t a_len = a->end - a->start, b_len = b->end - b->start;

	return !b->end || (a_len != b_len ? a_len < b_len : a->start < b->start);
}

static size_t first_not_below(const struct search *search, uint64_t address)
{
	size_t low = 0, high = search->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (search->addresses[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void note(struct bounds *node, const struct bounds *bounds)
{
	if (is_better(bounds, node))
		*node = *bounds;
}

static int note_entry(size_t offset, void *ctx)
{
	struct search *search = ctx;
	struct frame_entry entry;

	if (frame_section_read(&search->section, offset, &search->cache, &entry) < 0)
		return 0;
	struct bounds bounds = {entry.start, entry.end};
	size_t low = first_not_below(search, bounds.start) + search->count;
	size_t high = first_not_below(search, bounds.end) + search->count;
	if (low >= high || !frame_sections_clip(search->elf, bounds.start, &bounds.end))
		return 0;
	if (bounds.end < entry.end)
		high = first_not_below(search, bounds.end) + search->count;
	/* Node n has the children 2n and 2n + 1. The leaves are the addresses. */
	for (; low < high; low /= 2, high /= 2) {
		if (low & 1)
			note(&search->tree[low++], &bounds);
		if (high & 1)
			note(&search->tree[--high], &bounds);
	}
	return 0;
}

static int search_section(struct search *search, enum frame_source source)
{
	int err = frame_sections_load(search->elf, source, &search->section);

	if (err < 0)
		return err == -ENOMEM ? err : 0;
	cie_cache_init(&search->cache);
	frame_section_each(&search->section, note_entry, search);
	frame_sections_release(&search->section);
	return 0;
}

static struct bounds best_of(const struct search *search, size_t index)
{
	struct bounds best = {0};

	for (size_t node = index + search->count; node; node /= 2) {
		const struct bounds *bounds = &search->tree[node];

		if (bounds->end && is_better(bounds, &best))
			best = *bounds;
	}
	return best;
}

int function_bounds(const struct elf *elf, const uint64_t *addresses, size_t count,
                    struct bounds *ret_bounds)
{
	struct search search = {.elf = elf, .addresses = addresses, .count = count};

	if (!count)
		return 0;
	_cleanup_free_ struct bounds *tree = calloc(count, 2 * sizeof(*tree));
	if (!tree)
		return -ENOMEM;
	search.tree = tree;
	for (enum frame_source source = 0; source < FRAME_SOURCES; source++) {
		int err = search_section(&search, source);
		if (err < 0)
			return err;
	}
	for (size_t i = 0; i < count; i++)
		ret_bounds[i] = best_of(&search, i);
	return 0;
}
