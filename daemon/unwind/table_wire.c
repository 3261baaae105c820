/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The index and the rows are each checked once, however index entries refer to rows: blocks may
 * share rows, and checking the rows of every block would take 256 times as long. The check
 * therefore does not verify that the rows of a block ascend. A search among unsorted rows takes no
 * longer, but ends in another row.
 */
#include "unwind/table_wire.h"

#include "unwind/op.h"

#include <errno.h>
#include <string.h>

/* Comes after the words. */
struct table_tail {
	uint64_t text;
	uint32_t blocks, rule_count;
};

/* The parts of the bytes, from their length and the tail. */
struct view {
	const uint32_t *words;
	size_t word_count;
	struct table_tail tail;
	size_t index, rows; /* number of words in the index; index of the first row */
};

int table_write(struct table *table, struct buf *out)
{
	const struct table_tail tail = {
		.text = table->text,
		.blocks = table->blocks,
		.rule_count = (uint32_t)table->rule_count,
	};
	size_t len = table->word_count * sizeof(*table->words);
	uint32_t *words = TAKE_PTR(table->words);

	*out = (struct buf){.data = (uint8_t *)words, .len = len, .capacity = len};
	buf_add(out, &tail, sizeof(tail));
	return buf_error(out);
}

static bool open_view(const uint8_t *bytes, size_t len, struct view *ret_view)
{
	struct view view = {.words = (const uint32_t *)(const void *)bytes};

	if (len < sizeof(view.tail) || (len - sizeof(view.tail)) % sizeof(*view.words))
		return false;
	memcpy(&view.tail, bytes + len - sizeof(view.tail), sizeof(view.tail));
	view.word_count = (len - sizeof(view.tail)) / sizeof(*view.words);
	view.index = ((size_t)view.tail.blocks + RULE_WORDS - 1) / RULE_WORDS * RULE_WORDS;
	view.rows = view.index + (size_t)view.tail.rule_count * RULE_WORDS;
	*ret_view = view;
	return true;
}

static bool is_rule(const uint32_t *words)
{
	struct unwind_rule rule;

	memcpy(&rule, words, sizeof(rule));
	return rule.cfa <= RULE_CFA_DEREF && rule.fp <= RULE_IN_REGISTER &&
	       rule.ra <= RULE_IN_REGISTER && rule.cfa_register < MAX_REGS &&
	       rule.fp_register < MAX_REGS && rule.ra_register < MAX_REGS;
}

static bool is_op(const struct view *view, uint32_t op)
{
	uint32_t value = op & OP_VALUE_MASK;

	switch ((op & OP_MASK) >> OP_BASE_SHIFT) {
	case OP_RULE:
		/* Rules are counted from the table's base, so the index counts too. */
		return value >= view->index / RULE_WORDS && value < view->rows / RULE_WORDS;
	case OP_NAMED:
		return (value & UINT8_MAX) <= OP_PLT && value >> 16 == 0;
	default:
		return true;
	}
}

/* Whether an index entry refers to existing rows, the first of which begins with the block. */
static bool is_entry(const struct view *view, uint32_t entry)
{
	size_t first = entry >> (32 - INDEX_FIRST_BITS);
	size_t count = (entry & (BLOCK_BYTES - 1)) + 1;

	return first >= view->rows && first < view->word_count &&
	       count <= view->word_count - first && view->words[first] >> ROW_OP_BITS == 0;
}

static bool is_sound(const struct view *view, size_t max_words)
{
	const struct table_tail *tail = &view->tail;
	uint64_t end;

	if (!tail->blocks || view->word_count > max_words ||
	    view->word_count > 1U << INDEX_FIRST_BITS || view->rows >= view->word_count ||
	    tail->text % BLOCK_BYTES ||
	    __builtin_add_overflow(tail->text, (uint64_t)tail->blocks * BLOCK_BYTES - 1, &end))
		return false;
	for (size_t i = 0; i < tail->blocks; i++) {
		if (!is_entry(view, view->words[i]))
			return false;
	}
	for (size_t at = view->index; at < view->rows; at += RULE_WORDS) {
		if (!is_rule(&view->words[at]))
			return false;
	}
	for (size_t at = view->rows; at < view->word_count; at++) {
		if (!is_op(view, view->words[at]))
			return false;
	}
	return true;
}

int table_check(const uint8_t *bytes, size_t len, size_t max_words)
{
	struct view view;

	return open_view(bytes, len, &view) && is_sound(&view, max_words) ? 0 : -EBADMSG;
}

int table_read(uint8_t *bytes, size_t len, struct table **ret_table)
{
	_cleanup_free_ uint8_t *owned = bytes;
	struct table *table = calloc(1, sizeof(*table));
	struct view view;

	if (!table || !open_view(bytes, len, &view)) {
		free(table);
		return -ENOMEM;
	}
	*table = (struct table){
		.text = view.tail.text,
		.blocks = view.tail.blocks,
		.words = (uint32_t *)(void *)TAKE_PTR(owned),
		.word_count = view.word_count,
		.row_count = view.word_count - view.rows,
		.rule_count = view.tail.rule_count,
	};
	*ret_table = table;
	return 0;
}
