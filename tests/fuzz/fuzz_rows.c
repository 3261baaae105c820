/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any rows as a table: each of its bytes has the operation that a search through the rows, in the
 * order in which they were added, finds.
 */
#include "unwind/op.h"
#include "unwind/table.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 256, SPAN = 4096 };

/* The input for one row. */
struct bytes {
	uint16_t start, len;
	uint8_t cfa, cfa_reg, fp, ra;
	int16_t offset, fp_offset;
};

struct rows {
	struct frame_row items[MAX_ROWS];
	size_t count;
	enum machine machine;
	uint64_t base;
};

static struct frame_row make_row(const struct bytes *bytes, uint64_t base)
{
	uint64_t start = base + bytes->start % SPAN;

	return (struct frame_row){
		.start = start,
		.end = start + bytes->len % (SPAN + 1 - bytes->start % SPAN),
		.cfa = {.kind = bytes->cfa % 4,
	                .reg = bytes->cfa_reg,
	                .offset = bytes->offset * (1LL << (bytes->cfa >> 3)),
	                .add = (int64_t)bytes->fp_offset * 2},
		.fp = {.kind = bytes->fp % 6, .reg = bytes->fp >> 3, .offset = bytes->fp_offset},
		.ra = {.kind = bytes->ra % 6,
	               .reg = bytes->ra >> 3,
	               .offset = bytes->ra & 0x80 ? -8 : bytes->offset},
		.signal_frame = bytes->ra == 0xff,
		.chained = bytes->cfa & 4,
	};
}

static void read_rows(const uint8_t *data, size_t size, struct rows *rows)
{
	struct bytes bytes;

	*rows = (struct rows){.machine = size && data[0] & 1 ? MACHINE_ARM64 : MACHINE_X86_64};
	if (size < 10)
		return;
	memcpy(&rows->base, data + 1, sizeof(rows->base));
	/* Keeps the span away from the last address, so that it does not wrap around. */
	if (rows->base > UINT64_MAX - 2 * SPAN)
		rows->base -= 2 * SPAN;
	data += 9;
	size -= 9;
	while (size >= sizeof(bytes) && rows->count < MAX_ROWS) {
		memcpy(&bytes, data, sizeof(bytes));
		rows->items[rows->count++] = make_row(&bytes, rows->base);
		data += sizeof(bytes);
		size -= sizeof(bytes);
	}
}

static const struct frame_row *naive_find(const struct rows *rows, uint64_t address)
{
	for (size_t i = 0; i < rows->count; i++) {
		if (address >= rows->items[i].start && address < rows->items[i].end)
			return &rows->items[i];
	}
	return NULL;
}

static bool same(const struct rows *rows, const struct table *table, uint32_t found,
                 const struct frame_row *row)
{
	struct unwind_rule rule;
	uint32_t op = row ? op_of_row(rows->machine, row, &rule) : OP_OF_NAME(OP_NONE);
	size_t at = (found & OP_VALUE_MASK) * RULE_WORDS;

	if (op >> OP_BASE_SHIFT != OP_RULE)
		return found == op;
	return found >> OP_BASE_SHIFT == OP_RULE && at + RULE_WORDS <= table->word_count &&
	       !memcmp(&table->words[at], &rule, sizeof(rule));
}

static void compare(const struct rows *rows, const struct table *table)
{
	const struct frame_row *before = NULL;
	uint64_t end = rows->base + SPAN;

	for (uint64_t at = rows->base; at < end;) {
		const struct frame_row *row = naive_find(rows, at), *next = row;
		uint64_t stop = at + 1;

		/* Whether a gap is padding depends on its length and on the row after it. */
		while (!row && stop < end && !(next = naive_find(rows, stop)))
			stop++;
		if (!row && before && next && stop - at < TABLE_PADDING)
			row = before;
		for (; at < stop; at++) {
			if (!same(rows, table, table_find(table, at), row))
				abort();
		}
		before = row ? row : before;
	}
	if (table_find(table, rows->base - 1) != OP_OF_NAME(OP_NONE) ||
	    table_find(table, end + BLOCK_BYTES) != OP_OF_NAME(OP_NONE))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(table_freep) struct table *table = NULL;
	struct table_builder *builder;
	struct rows rows;

	read_rows(data, size, &rows);
	builder = table_builder_new(rows.machine);
	if (!builder)
		return 0;
	for (size_t i = 0; i < rows.count; i++) {
		if (table_add(builder, &rows.items[i]))
			abort();
	}
	if (table_seal(builder, rows.base, rows.base + SPAN, 1 << 16, &table) == 0)
		compare(&rows, table);
	table_builder_free(builder);
	return 0;
}
