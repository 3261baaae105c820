/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which source line an instruction is of: the three line tables of CPython. Pure; any thread.
 * Formats: Objects/lnotab_notes.txt (3.8, 3.9; 3.10 differs as PEP 626 says),
 * InternalDocs/code_objects.md (3.11 on).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { LINE_STEP = 512 }; /* bytes of a table from mark to mark */

/* Where a pass over a table stands. */
struct line_place {
	size_t at;        /* the entry that is next */
	uint64_t address; /* where what it says of begins */
	int64_t line;     /* before it */
};

static inline struct line_place line_start(uint32_t first_line)
{
	return (struct line_place){.line = (int32_t)first_line};
}

/* The line of the instruction at `offset` bytes, which is not before `place`; 0 when the table is
 * cut before it. One of no line has that of the one before. */
uint32_t python_line(uint32_t version, const uint8_t *table, size_t len, struct line_place place,
                     uint32_t offset);
/* Marks along a table, so that a long one need not be gone through for each line: how many. There
 * is room for len / LINE_STEP of them. */
size_t python_line_marks(uint32_t version, const uint8_t *table, size_t len, uint32_t first_line,
                         struct line_place *marks);
/* The last of them that is not behind `offset`; else the start. */
struct line_place python_line_mark(const struct line_place *marks, size_t count,
                                   uint32_t first_line, uint32_t offset);
