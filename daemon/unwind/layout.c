/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A block in which one row applies throughout, in the middle of a long function or a gap, needs no
 * row of its own: it points to the first row of an earlier block that begins with the same
 * operation.
 */
#include "unwind/layout.h"
#include "unwind/op.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_WORDS = 1024 };

/* A word of the walker's index has 24 bits for the place of a block's rows. */
static const size_t most_words = (size_t)1 << INDEX_FIRST_BITS;

static int append(struct layout *layout, uint32_t word)
{
	if (layout->count == layout->capacity) {
		size_t capacity =
			layout->capacity * 2 < layout->max ? layout->capacity * 2 : layout->max;
		uint32_t *words;

		if (layout->count >= layout->max)
			return -E2BIG;
		words = realloc(layout->words, capacity * sizeof(*words));
		if (!words)
			return -ENOMEM;
		layout->words = words;
		layout->capacity = capacity;
	}
	layout->words[layout->count++] = word;
	return 0;
}

int layout_begin(struct layout *layout, uint64_t blocks, const struct rules *rules, size_t max)
{
	size_t index;

	*layout = (struct layout){.max = max < most_words ? max : most_words};
	if (blocks > layout->max)
		return -E2BIG;
	layout->blocks = (uint32_t)blocks;
	layout->op = OP_OF_NAME(OP_NONE);
	index = (blocks + RULE_WORDS - 1) / RULE_WORDS * RULE_WORDS;
	layout->rows = index + rules->count * RULE_WORDS;
	if (layout->rows >= layout->max)
		return -E2BIG;
	layout->capacity =
		layout->rows + FIRST_WORDS < layout->max ? layout->rows + FIRST_WORDS : layout->max;
	layout->words = calloc(layout->capacity, sizeof(*layout->words));
	if (!layout->words)
		return -ENOMEM;
	if (rules->count)
		memcpy(&layout->words[index], rules->items, rules->count * sizeof(*rules->items));
	layout->count = layout->rows;
	return 0;
}

static uint32_t *recent_of(struct layout *layout, uint32_t op)
{
	return &layout->recent[(op * 0x9e3779b1U) >> 24];
}

/* Begins a block with its own rows. */
static int begin_block(struct layout *layout)
{
	size_t first = layout->count;
	int err = append(layout, layout->op);

	if (err)
		return err;
	layout->words[layout->begun++] = (uint32_t)first << (32 - INDEX_FIRST_BITS);
	*recent_of(layout, layout->op) = (uint32_t)first;
	return 0;
}

/* Begins all blocks before `block`; nothing changes in them. */
static int fill_blocks(struct layout *layout, uint64_t block)
{
	while (layout->begun < block) {
		uint32_t first = *recent_of(layout, layout->op);

		/* A block's first row begins at byte 0, so its word is the operation alone. */
		if (first && layout->words[first] == layout->op) {
			layout->words[layout->begun++] = first << (32 - INDEX_FIRST_BITS);
			continue;
		}
		int err = begin_block(layout);
		if (err)
			return err;
	}
	return 0;
}

int layout_change(struct layout *layout, uint64_t offset, uint32_t op)
{
	uint32_t low = offset & (BLOCK_BYTES - 1);
	uint64_t block = offset >> BLOCK_BITS;
	int err;

	if (op == layout->op)
		return 0;
	err = fill_blocks(layout, block);
	if (!err && low && layout->begun == block)
		err = begin_block(layout);
	if (!err && low) {
		err = append(layout, low << ROW_OP_BITS | op);
		if (!err)
			layout->words[block]++;
	}
	layout->op = op;
	return err;
}

int layout_end(struct layout *layout)
{
	return fill_blocks(layout, layout->blocks);
}
