/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files behind gopclntab.h share: where the parts of the table are. Every span lies inside
 * bytes that the table owns; the contents of a span are unchecked.
 */
#pragma once

#include "elf/cursor.h"
#include "elf/gopclntab.h"

/* How a version of the table differs from the other versions. */
struct go_layout {
	uint32_t magic;
	uint8_t entry_bytes;     /* of a function's address, in the index and in its record */
	bool has_text_start;     /* the header has it, and addresses are relative to it */
	bool has_start_line;     /* a function's record has its start line */
	uint8_t call_bytes;      /* of an inlined call; 0: not read in this version */
	uint8_t call_name;       /* offset of the name in an inlined call */
	uint8_t call_parent;     /* offset of the call's place in the caller */
	uint8_t call_start_line; /* offset of the start line; 0: there is none */
	uint8_t module_func;     /* word of moduledata with the start of function data */
};

struct span {
	const uint8_t *bytes;
	size_t len;
};

struct gopclntab {
	const struct go_layout *layout;
	struct elf_section section; /* the section with the table */
	uint64_t address;           /* of the table */
	uint8_t *calls_copy;        /* copy of function data that lies outside the section */
	size_t calls_copy_len;

	uint64_t text; /* start of the code; addresses of functions are relative to it */
	uint8_t quantum;
	uint64_t count; /* number of functions */
	struct span names, units, files, values, functions;
	struct span calls; /* function data, from which inlined calls are read */
};

/* The fixed part of a function's record. */
struct go_function {
	uint64_t entry;
	uint32_t name, file_values, line_values, unit, start_line;
	uint32_t value_tables; /* number of value tables */
	uint8_t data_tables;
	struct span tables; /* offsets of the value tables, then of the data tables */
};

/* The address of the function with that index; for table->count, the end of the last function. */
uint64_t gopclntab_entry(const struct gopclntab *table, uint64_t index);
/* Reads the record of the function with that index. */
bool gopclntab_function(const struct gopclntab *table, uint64_t index,
                        struct go_function *ret_function);
/* The offset of the function's inlined calls in the function data. False: it has none. */
bool gopclntab_calls(const struct go_function *function, uint32_t *ret_offset);

/* Finds where the code begins, and where the inlined calls are. -EBADMSG when the start of the code
 * cannot be found, -ENOMEM. */
int gopclntab_locate(struct gopclntab *table, const struct elf *elf);

static inline struct span span_from(struct span span, uint64_t offset)
{
	return offset < span.len ? (struct span){span.bytes + offset, span.len - offset}
	                         : (struct span){0};
}

static inline struct cursor span_cursor(struct span span)
{
	return cursor_over(span.bytes, span.len, 0);
}
