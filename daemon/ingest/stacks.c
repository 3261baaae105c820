/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The table has at least twice as many slots as there are nodes. The keys are hashes already.
 */
#include "ingest/stacks.h"

#include "base/bounds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int stack_index_build(struct stack_index *index, const struct drained *drained)
{
	size_t size = 16;

	while (size < drained->stack_count * 2)
		size *= 2;
	index->slots = calloc(size, sizeof(*index->slots));
	if (!index->slots)
		return -ENOMEM;
	index->drained = drained;
	index->mask = size - 1;
	for (size_t i = 0; i < drained->stack_count; i++) {
		size_t at = drained->stack_keys[i] & index->mask;

		while (index->slots[at])
			at = (at + 1) & index->mask;
		index->slots[at] = (uint32_t)i + 1;
	}
	return 0;
}

void stack_index_release(struct stack_index *index)
{
	free(index->slots);
	*index = (struct stack_index){0};
}

static const struct stack_node *find(const struct stack_index *index, uint64_t key)
{
	size_t at = key & index->mask;

	for (; index->slots[at]; at = (at + 1) & index->mask)
		if (index->drained->stack_keys[index->slots[at] - 1] == key)
			return &index->drained->stacks[index->slots[at] - 1];
	return NULL;
}

size_t stack_index_words(const struct stack_index *index, uint64_t key, uint64_t *words,
                         bool *ret_whole)
{
	size_t len = 0;

	*ret_whole = key != STACK_LOST;
	while (key >= STACK_FIRST) {
		const struct stack_node *node = find(index, key);

		if (!node || node->len > NODE_FRAMES || len + node->len > MAX_STACK_FRAMES) {
			*ret_whole = false;
			break;
		}
		memcpy(words + len, node->frames, node->len * sizeof(uint64_t));
		len += node->len;
		key = node->parent;
	}
	return len;
}
