/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the files behind gopclntab.h share: where the parts of the table are. Every span lies inside
 * bytes that the table owns; what is in them is unchecked.
 */
#pragma once

#include "object/cursor.h"
#include "object/gopclntab.h"

/* How a version of the table differs from the others. */
struct go_layout {
	uint32_t magic;
	uint8_t entry_bytes;     /* of a function's address, in the index and in its record */
	bool has_text_start;     /* the header has it, and addresses count from there */
	bool has_start_line;     /* a function's record has it */
	uint8_t call_bytes;      /* an inlined call; 0: those of this version are not read */
	uint8_t call_name;       /* offset in it */
	uint8_t call_parent;     /* offset in it of where in the caller it stands */
	uint8_t call_start_line; /* offset in it; 0: not there */
	uint8_t module_func;     /* word of moduledata that says where function data begins */
};

struct span {
	const uint8_t *bytes;
	size_t len;
};

struct gopclntab {
	const struct go_layout *layout;
	struct elf_section section; /* that has the table */
	uint64_t address;           /* of the table */
	uint8_t *calls_copy;        /* of function data outside of the section */
	size_t calls_copy_len;

	uint64_t text; /* addresses of functions count from here */
	uint8_t quantum;
	uint64_t count; /* functions */
	struct span names, units, files, values, functions;
	struct span calls; /* function data, of which inlined calls are looked at */
};

/* A function's record: its fixed part. */
struct go_function {
	uint64_t entry;
	uint32_t name, file_values, line_values, unit, start_line;
	uint32_t value_tables; /* how many */
	uint8_t data_tables;
	struct span tables; /* value tables' offsets, then data tables' */
};

/* Where the function at that place in the index begins; at table->count: where the last one ends.
 */
uint64_t gopclntab_entry(const struct gopclntab *table, uint64_t index);
/* The record of the function at that place in the index. */
bool gopclntab_function(const struct gopclntab *table, uint64_t index,
                        struct go_function *ret_function);
/* Offset of its inlined calls in the function data; false when it has none. */
bool gopclntab_calls(const struct go_function *function, uint32_t *ret_offset);

/* Finds out where the code begins, and where the inlined calls are. -EBADMSG without the first,
 * -ENOMEM. */
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
