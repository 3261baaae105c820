/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct table - the rows of one executable in the compact form that the kernel half walks with,
 * as position-independent words. The format is bpf/unwind_table.h's. Made on a worker thread, then
 * constant; no state elsewhere.
 */
#pragma once

#include "base/cleanup.h"
#include "bpf/unwind_table.h"
#include "object/elf.h"
#include "object/frame_row.h"
#include "unwind/follow.h"
#include "unwind/followed.h"

#include <stdbool.h>
#include <stddef.h>

enum machine { MACHINE_X86_64, MACHINE_ARM64 };

/* Fewer bytes than this between two rows align the next function and are never executed; they take
 * the row before. */
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

/* Takes rows in any order; where they overlap the one added first holds. -E2BIG over
 * MAX_UNWIND_ROWS, -ENOMEM. */
int table_add(struct table_builder *builder, const struct frame_row *row);
/* Lays out [start, end) of own addresses: addresses without a row get OP_NONE. -E2BIG when it would
 * be over `max_words`, -ENODATA when there is not one row, -ENOMEM. */
int table_seal(struct table_builder *builder, uint64_t start, uint64_t end, size_t max_words,
               struct table **ret_table);
void table_free(struct table *table);
DEFINE_CLEANUP(struct table *, table_free)

/* What a file's call frame information says; with `follow` also what following the code that it
 * leaves out can prove, which takes a tenth of a second a MB. -ENODATA when that is nothing. Reads
 * the file: worker threads only. */
int table_build(const struct elf *elf, bool follow, size_t max_words, struct table **ret_table);
/* The same of a part, [start, end) of own addresses: takes as long as what is described there, if
 * the file has an index of its call frame information, as linkers make it. Code is followed unless
 * `followed` is NULL: {0}, or what parts of the same file have left there. */
int table_build_part(const struct elf *elf, struct followed *followed, struct range part,
                     size_t max_words, struct table **ret_table);

/* The operation at an own address, as the walker finds it; OP_NONE outside. For tests and tools. */
uint32_t table_find(const struct table *table, uint64_t address);
