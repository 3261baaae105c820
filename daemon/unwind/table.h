/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct table - the rows of one executable in the compact form that the kernel half walks with:
 * position-independent words in the format of bpf/unwind_table.h. Built on a worker thread, then
 * constant; no other state.
 */
#pragma once

#include "base/cleanup.h"
#include "bpf/unwind_table.h"
#include "cfi/frame_row.h"
#include "elf/elf.h"
#include "follow/follow.h"
#include "follow/followed.h"
#include "unwind/op.h"

#include <stdbool.h>
#include <stddef.h>

/* A gap of fewer bytes than this between two rows is padding before the next function. It is never
 * executed, and the row before it is extended over it. */
enum { TABLE_PADDING = 16 };

struct table {
	uint64_t text; /* own address of the first block */
	uint32_t blocks;
	uint32_t *words; /* index, rules, rows */
	size_t word_count;
	size_t row_count, rule_count; /* for statistics */
};

struct table_builder;

struct table_builder *table_builder_new(enum machine machine); /* NULL when out of memory */
void table_builder_free(struct table_builder *builder);
DEFINE_CLEANUP(struct table_builder *, table_builder_free)

/* Adds a row; rows may come in any order. Where rows overlap, the one added first applies. -E2BIG
 * over MAX_UNWIND_ROWS, -ENOMEM. */
int table_add(struct table_builder *builder, const struct frame_row *row);
/* Lays out the own addresses [start, end); addresses without a row get OP_NONE. -E2BIG when the
 * table would have more than `max_words`, -ENODATA when there is no row at all, -ENOMEM. */
int table_seal(struct table_builder *builder, uint64_t start, uint64_t end, size_t max_words,
               struct table **ret_table);
void table_free(struct table *table);
DEFINE_CLEANUP(struct table *, table_free)

/* Builds a table from a file's call frame information; with `follow` also from what can be proven
 * by following the code that has none, which takes a tenth of a second per MB. -ENODATA when there
 * are no rows. Reads the file: worker threads only. */
int table_build(const struct elf *elf, bool follow, size_t max_words, struct table **ret_table);
/* The same for a part, the own addresses [start, end). If the file has an index of its call frame
 * information, as linkers write it, the cost depends on what is described in that part. Code is
 * followed unless `followed` is NULL; `*followed` is {0} at first, and keeps rows between calls for
 * parts of the same file. */
int table_build_part(const struct elf *elf, struct followed *followed, struct range part,
                     size_t max_words, struct table **ret_table);

/* The operation at an own address, as the walker finds it; OP_NONE outside the table. For tests and
 * tools. */
uint32_t table_find(const struct table *table, uint64_t address);
