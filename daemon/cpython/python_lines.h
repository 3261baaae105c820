/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Finds the source line of an instruction in the three kinds of CPython's line tables. Pure; any
 * thread. Formats: Objects/lnotab_notes.txt (3.8, 3.9; 3.10 differs as PEP 626 says),
 * InternalDocs/code_objects.md (3.11 and later).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { LINE_STEP = 512 }; /* bytes of a table between two marks */

/* A position in a pass over a table. */
struct line_place {
	size_t at;        /* offset of the next entry */
	uint64_t address; /* where the code of that entry begins */
	int64_t line;     /* line before that entry */
};

static inline struct line_place line_start(uint32_t first_line)
{
	return (struct line_place){.line = (int32_t)first_line};
}

/* The line of the instruction at `offset` bytes, which must not be before `place`. An instruction
 * without a line has the line of the one before. 0 when the table is truncated before it. */
uint32_t python_line(uint32_t version, const uint8_t *table, size_t len, struct line_place place,
                     uint32_t offset);
/* Makes marks along a table, so that a long table need not be read from its beginning for each
 * line. Returns how many. `marks` has room for len / LINE_STEP of them. */
size_t python_line_marks(uint32_t version, const uint8_t *table, size_t len, uint32_t first_line,
                         struct line_place *marks);
/* The last mark that is not behind `offset`, or the start of the table. */
struct line_place python_line_mark(const struct line_place *marks, size_t count,
                                   uint32_t first_line, uint32_t offset);
