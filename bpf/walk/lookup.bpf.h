/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From an address in the current process to the operation that leads to its caller, through the
 * tables of bpf/unwind_table.h. The daemon fills them; whatever they contain, no access goes
 * outside them.
 */
#pragma once

#include "bpf/slots.bpf.h"
#include "bpf/task.bpf.h"
#include "bpf/walk/walk.bpf.h"

enum { OP_NOTHING = OP_NAMED << OP_BASE_SHIFT | OP_NONE };

static __always_inline void find_process(struct walk *walk)
{
	u64 slot;

	if (!slot_of(bpf_get_current_pid_tgid() >> 32, &slot)) {
		walk->parent = task_parent_alike();
		slot_of(walk->parent, &slot);
	}
	walk->first = (slot >> SLOT_FIRST_SHIFT) & SLOT_FIRST_MAX;
	walk->count = slot & SLOT_COUNT_MAX;
}

/* Finds the mapping that holds an address and remembers it: consecutive frames often share it. */
static __always_inline int find_mapping(struct walk *walk, u64 address)
{
	struct unwind_mapping *mapping;
	u32 low = 0, left = walk->count, at;

	if (address >= walk->mapping.start && address < walk->mapping.end)
		return 1;
	/* Enough steps for SLOT_COUNT_MAX mappings. */
	for (u32 i = 0; i < SLOT_FIRST_SHIFT && left > 1; i++) {
		u32 half = left / 2;

		at = walk->first + low + half;
		mapping = bpf_map_lookup_elem(&unwind_mappings, &at);
		if (!mapping)
			return 0;
		if (mapping->start <= address)
			low += half;
		left -= half;
	}
	at = walk->first + low;
	mapping = left ? bpf_map_lookup_elem(&unwind_mappings, &at) : NULL;
	if (!mapping || address < mapping->start || address >= mapping->end)
		return 0;
	walk->mapping = *mapping;
	return 1;
}

/* The last row of a block that begins at or below byte `low_byte` of the block. */
static __always_inline u32 find_row(const u32 *rows, u32 count, u32 low_byte)
{
	u32 low = 0;

	for (u32 i = 0; i < BLOCK_BITS && count > 1; i++) {
		u32 half = count / 2;

		if (rows[(low + half) & (BLOCK_BYTES - 1)] >> ROW_OP_BITS <= low_byte)
			low += half;
		count -= half;
	}
	return rows[low & (BLOCK_BYTES - 1)];
}

/* The chunk that holds a table. */
static __always_inline u32 *chunk_of(u32 base)
{
	u32 chunk = base >> CHUNK_BITS, zero = 0;
	void *map = bpf_map_lookup_elem(&unwind_chunks, &chunk);

	return map ? bpf_map_lookup_elem(map, &zero) : NULL;
}

/* The word with number `word` of a table; NULL where it lies outside the chunk. One comparison
 * bounds a whole block, because a chunk's last CHUNK_SLACK words are never used. */
static __always_inline u32 *word_at(u32 *chunk, u32 base, u32 word)
{
	word += base & (CHUNK_WORDS - 1);
	if (word >= CHUNK_WORDS - CHUNK_SLACK)
		return NULL;
	/* Compilers add before they compare, and the verifier does not see that this is
	 * equivalent. */
	barrier_var(word);
	return chunk + word;
}

static __always_inline u32 find_in_table(struct walk *walk, const struct unwind_table *table)
{
	u64 own = walk->pc - walk->mapping.bias - table->text;
	u32 *chunk, *word, entry;

	if (own >> BLOCK_BITS >= table->blocks)
		return OP_NOTHING;
	chunk = chunk_of(walk->base);
	if (!chunk)
		return OP_NOTHING;
	word = word_at(chunk, walk->base, (u32)(own >> BLOCK_BITS));
	if (!word)
		return OP_NOTHING;
	entry = *word;
	word = word_at(chunk, walk->base, entry >> (32 - INDEX_FIRST_BITS));
	if (!word)
		return OP_NOTHING;
	return find_row(word, (entry & (BLOCK_BYTES - 1)) + 1, own & (BLOCK_BYTES - 1)) & OP_MASK;
}

static __always_inline enum counter why_no_table(const struct unwind_table *table)
{
	if (table->why == TABLE_PENDING)
		return COUNTER_cut_pending;
	return table->why == TABLE_NO_ROOM ? COUNTER_cut_no_room : COUNTER_cut_no_rows;
}

static __always_inline u32 no_op(struct walk *walk, enum counter why)
{
	walk->is_news |= why == COUNTER_cut_no_process || why == COUNTER_cut_unmapped ||
	                 why == COUNTER_cut_pending;
	walk->cut = why;
	return OP_NOTHING;
}

/* The number of the table for an address in the mapping found last; 0 where there is none. */
static __always_inline u32 table_number(const struct walk *walk, u64 address)
{
	const struct unwind_mapping *mapping = &walk->mapping;
	u32 piece;

	if (!mapping->pieces)
		return mapping->table;
	piece = (u32)((address - mapping->bias) >> PIECE_BITS) -
	        (u32)((mapping->start - mapping->bias) >> PIECE_BITS);
	return piece <= mapping->pieces ? mapping->table + piece : 0;
}

/* The operation for the frame at which the walk stands. Where it is OP_NOTHING, walk->cut says
 * why. */
static __always_inline u32 find_op(struct walk *walk)
{
	struct unwind_table *table;
	u32 number, op;

	if (!find_mapping(walk, walk->pc))
		return no_op(walk, walk->count ? COUNTER_cut_unmapped : COUNTER_cut_no_process);
	number = table_number(walk, walk->pc);
	table = number ? bpf_map_lookup_elem(&unwind_tables, &number) : NULL;
	if (!table)
		return no_op(walk, COUNTER_cut_no_rows);
	walk->base = *(volatile u32 *)&table->base;
	if (!walk->base) {
		table->missed++;
		return no_op(walk, why_no_table(table));
	}
	if (table->used != unwind_epoch)
		table->used = unwind_epoch;
	op = find_in_table(walk, table);
	if (op == OP_NOTHING) {
		table->gaps++;
		walk->cut = COUNTER_cut_no_rows;
	}
	return op;
}

/* Counts a miss of the table for an address, if that table is not built yet. */
static __always_inline void miss_table(struct walk *walk, u64 address)
{
	struct unwind_table *table;
	u32 number;

	if (!find_mapping(walk, address))
		return;
	number = table_number(walk, address);
	table = number ? bpf_map_lookup_elem(&unwind_tables, &number) : NULL;
	if (table && !table->base && table->why == TABLE_PENDING)
		table->missed++;
}
