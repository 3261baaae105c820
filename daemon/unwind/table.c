/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Rows are packed as they are added. Sealing goes over them by address (unwind/sweep.h) and writes
 * the words (unwind/layout.h).
 */
#include "unwind/table.h"

#include "base/bounds.h"
#include "unwind/layout.h"
#include "unwind/op.h"
#include "unwind/sweep.h"

#include <errno.h>

enum { FIRST_ROWS = 4096 };

struct table_builder {
	enum machine machine;
	struct rules rules;
	struct packed_row *rows;
	size_t count, capacity;
	size_t ascending;    /* this many rows at the beginning are sorted by start */
	uint64_t origin;     /* base of packed starts */
	uint64_t first, end; /* bounds of all rows */
};

/* State of sealing. */
struct sealing {
	uint64_t origin, start, end;
	uint64_t described; /* end of the previous range with a row */
	struct layout layout;
};

struct table_builder *table_builder_new(enum machine machine)
{
	struct table_builder *builder = calloc(1, sizeof(*builder));

	if (!builder)
		return NULL;
	builder->machine = machine;
	builder->first = UINT64_MAX;
	return builder;
}

void table_builder_free(struct table_builder *builder)
{
	if (!builder)
		return;
	rules_release(&builder->rules);
	free(builder->rows);
	free(builder);
}

static int reserve(struct table_builder *builder)
{
	size_t capacity =
		builder->capacity ? builder->capacity + builder->capacity / 2 : FIRST_ROWS;
	struct packed_row *rows;

	if (builder->count < builder->capacity)
		return 0;
	if (builder->count >= MAX_UNWIND_ROWS)
		return -E2BIG;
	rows = realloc(builder->rows, capacity * sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	builder->rows = rows;
	builder->capacity = capacity;
	return 0;
}

static int op_of(struct table_builder *builder, const struct frame_row *row, uint32_t *ret_op)
{
	struct unwind_rule rule;
	uint32_t op = op_of_row(builder->machine, row, &rule), number;

	if (op >> OP_BASE_SHIFT == OP_RULE) {
		int err = rules_number(&builder->rules, &rule, &number);

		if (err && err != -E2BIG)
			return err;
		op = err ? OP_OF_NAME(OP_UNSUPPORTED) : op | number;
	}
	*ret_op = op;
	return 0;
}

/* Whether the row's start can be packed. Rows that are further apart cannot be in one table,
 * because the index of their blocks would be larger than any pool. */
static bool in_reach(struct table_builder *builder, uint64_t start)
{
	const uint64_t half = 1ULL << (PACKED_START_BITS - 1);

	if (!builder->count)
		builder->origin = start > half ? start - half : 0;
	return start >= builder->origin && start - builder->origin < 2 * half;
}

int table_add(struct table_builder *builder, const struct frame_row *row)
{
	uint64_t len = row->end - row->start, start;
	uint32_t op;
	int err;

	if (row->start >= row->end)
		return 0;
	err = reserve(builder);
	if (!err)
		err = op_of(builder, row, &op);
	if (err)
		return err;
	if (!in_reach(builder, row->start))
		return 0;
	len = len < UINT32_MAX ? len : UINT32_MAX;
	start = row->start - builder->origin;
	if (builder->ascending == builder->count &&
	    (!builder->count || packed_start(&builder->rows[builder->count - 1]) <= start))
		builder->ascending++;
	builder->rows[builder->count] = (struct packed_row){
		.start_op = start << ROW_OP_BITS | op,
		.len = (uint32_t)len,
		.order = (uint32_t)builder->count,
	};
	builder->count++;
	builder->first = row->start < builder->first ? row->start : builder->first;
	builder->end = row->start + len > builder->end ? row->start + len : builder->end;
	return 0;
}

static int lay_piece(uint64_t start, uint64_t end, uint32_t op, void *ctx)
{
	struct sealing *sealing = ctx;
	int err = 0;

	start += sealing->origin;
	end += sealing->origin;
	start = start > sealing->start ? start : sealing->start;
	end = end < sealing->end ? end : sealing->end;
	if (start >= end)
		return 0;
	if (start - sealing->described >= TABLE_PADDING)
		err = layout_change(&sealing->layout, sealing->described - sealing->start,
		                    OP_OF_NAME(OP_NONE));
	if (op >> OP_BASE_SHIFT == OP_RULE)
		/* The walker counts rules from the table's base, so the index counts too. */
		op += (sealing->layout.blocks + RULE_WORDS - 1) / RULE_WORDS;
	if (!err)
		err = layout_change(&sealing->layout, start - sealing->start, op);
	sealing->described = end;
	return err;
}

static int lay_rows(struct table_builder *builder, struct sealing *sealing)
{
	struct layout *layout = &sealing->layout;
	int err = sweep_rows(builder->rows, builder->count, builder->ascending, lay_piece, sealing);

	if (!err && sealing->described - sealing->start < (uint64_t)layout->blocks * BLOCK_BYTES)
		err = layout_change(layout, sealing->described - sealing->start,
		                    OP_OF_NAME(OP_NONE));
	return err ? err : layout_end(layout);
}

static int take_words(struct layout *layout, uint64_t text, size_t rule_count,
                      struct table **ret_table)
{
	struct table *table = calloc(1, sizeof(*table));
	uint32_t *words;

	if (!table)
		return -ENOMEM;
	words = realloc(layout->words, layout->count * sizeof(*words));
	*table = (struct table){
		.text = text,
		.blocks = layout->blocks,
		.words = words ? words : layout->words,
		.word_count = layout->count,
		.row_count = layout->count - layout->rows,
		.rule_count = rule_count,
	};
	layout->words = NULL;
	*ret_table = table;
	return 0;
}

int table_seal(struct table_builder *builder, uint64_t start, uint64_t end, size_t max_words,
               struct table **ret_table)
{
	struct sealing sealing = {.origin = builder->origin};
	int err;

	/* The table need not cover addresses before the first row or after the last. */
	start = start > builder->first ? start : builder->first;
	end = end < builder->end ? end : builder->end;
	if (start >= end)
		return -ENODATA;
	sealing.start = sealing.described = start / BLOCK_BYTES * BLOCK_BYTES;
	sealing.end = end;
	err = layout_begin(&sealing.layout, (end - sealing.start - 1) / BLOCK_BYTES + 1,
	                   &builder->rules, max_words);
	if (!err)
		err = lay_rows(builder, &sealing);
	if (!err && sealing.described == sealing.start)
		err = -ENODATA;
	if (!err)
		err = take_words(&sealing.layout, sealing.start, builder->rules.count, ret_table);
	free(sealing.layout.words);
	return err;
}

void table_free(struct table *table)
{
	if (!table)
		return;
	free(table->words);
	free(table);
}

uint32_t table_find(const struct table *table, uint64_t address)
{
	uint64_t own = address - table->text;
	uint32_t low = 0, count, entry;
	const uint32_t *rows;

	if (address < table->text || own >> BLOCK_BITS >= table->blocks)
		return OP_OF_NAME(OP_NONE);
	entry = table->words[own >> BLOCK_BITS];
	rows = &table->words[entry >> (32 - INDEX_FIRST_BITS)];
	count = (entry & (BLOCK_BYTES - 1)) + 1;
	while (count > 1) {
		uint32_t half = count / 2;

		if (rows[low + half] >> ROW_OP_BITS <= (own & (BLOCK_BYTES - 1)))
			low += half;
		count -= half;
	}
	return rows[low] & OP_MASK;
}
