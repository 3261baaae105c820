/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Looks up an address: a binary search finds the function, then the function's value tables are
 * read. A value table is a list of pairs (change of the value, length of the code that has the
 * value). Only a walk from its beginning finds a place in it; all walks of one look-up share a
 * budget.
 */
#include "base/bounds.h"
#include "elf/gopclntab.h"
#include "elf/gopclntab_private.h"

enum {
	MAX_STEPS = 1 << 20,     /* of one look-up, for all its walks together */
	VALUES_INLINED_CALL = 2, /* index among a function's value tables */
	NONE = -1, /* result of a look-up in a table without a value for the address */
};

struct lookup {
	const struct gopclntab *table;
	struct go_function function;
	size_t steps; /* steps that are left */
};

/* "" when there is no string. */
static const char *text_at(struct span texts, uint64_t offset)
{
	struct span text = span_from(texts, offset);
	size_t most = text.len < MAX_SYMBOL_NAME_BYTES ? text.len : (size_t)MAX_SYMBOL_NAME_BYTES;

	return most && memchr(text.bytes, '\0', most) ? (const char *)text.bytes : "";
}

/* The value that the table at an offset has for an address; NONE when the table does not cover the
 * address. */
static int32_t value_at(struct lookup *lookup, uint32_t offset, uint64_t address)
{
	struct cursor at = span_cursor(span_from(lookup->table->values, offset));
	uint64_t end = lookup->function.entry;
	uint32_t value = (uint32_t)NONE;

	if (!offset)
		return NONE;
	for (bool first = true; lookup->steps; first = false, lookup->steps--) {
		uint32_t change = (uint32_t)cursor_uleb(&at);
		uint64_t length = cursor_uleb(&at);

		if (at.broken || (!change && !first))
			return NONE;
		value += change & 1 ? ~(change >> 1) : change >> 1;
		end += length * lookup->table->quantum;
		if (address < end)
			return (int32_t)value;
	}
	return NONE;
}

static void set_place(struct lookup *lookup, uint64_t address, struct go_frame *frame)
{
	const struct gopclntab *table = lookup->table;
	int32_t file = value_at(lookup, lookup->function.file_values, address);
	int32_t line = value_at(lookup, lookup->function.line_values, address);

	frame->file = "";
	if (file >= 0) {
		uint64_t unit = (uint64_t)lookup->function.unit + (uint32_t)file;
		struct cursor at = span_cursor(span_from(table->units, unit * sizeof(uint32_t)));
		uint32_t offset = cursor_u32(&at);

		if (!at.broken)
			frame->file = text_at(table->files, offset);
	}
	frame->line = line > 0 ? (uint32_t)line : 0;
}

/* The index of the inlined call that the code at an address belongs to; NONE: the code is the
 * function's own. */
static int32_t call_at(struct lookup *lookup, uint64_t address)
{
	struct cursor at = span_cursor(
		span_from(lookup->function.tables, VALUES_INLINED_CALL * sizeof(uint32_t)));
	uint32_t offset = cursor_u32(&at);

	if (lookup->function.value_tables <= VALUES_INLINED_CALL || at.broken)
		return NONE;
	return value_at(lookup, offset, address);
}

/* Reads an inlined call: which function is called, and where in the caller the call is. An offset
 * that is not the beginning of a name shows that this is no such call. */
static bool read_call(const struct lookup *lookup, uint32_t calls, int32_t index,
                      struct go_frame *frame, uint64_t *ret_parent)
{
	const struct gopclntab *table = lookup->table;
	const struct go_layout *layout = table->layout;
	struct span call =
		span_from(table->calls, calls + (uint64_t)(uint32_t)index * layout->call_bytes);
	uint32_t name, parent, start_line = 0;

	if (!layout->call_bytes || call.len < layout->call_bytes)
		return false;
	memcpy(&name, call.bytes + layout->call_name, sizeof(name));
	memcpy(&parent, call.bytes + layout->call_parent, sizeof(parent));
	if (layout->call_start_line)
		memcpy(&start_line, call.bytes + layout->call_start_line, sizeof(start_line));
	if (name >= table->names.len || (name && table->names.bytes[name - 1]))
		return false;
	*frame = (struct go_frame){
		.function = text_at(table->names, name),
		.start_line = (int32_t)start_line > 0 ? start_line : 0,
	};
	*ret_parent = lookup->function.entry + parent;
	return *frame->function;
}

/* Adds the inlined functions at an address, and moves `address` outwards to the place of the
 * outermost call. */
static size_t add_inlined(struct lookup *lookup, uint64_t *address,
                          struct go_frame ret_frames[MAX_GO_FRAMES])
{
	size_t count = 0;
	uint64_t parent;
	uint32_t calls;

	if (!gopclntab_calls(&lookup->function, &calls))
		return 0;
	while (count < MAX_GO_FRAMES - 1) {
		int32_t index = call_at(lookup, *address);

		if (index < 0 || !read_call(lookup, calls, index, &ret_frames[count], &parent))
			break;
		set_place(lookup, *address, &ret_frames[count]);
		*address = parent;
		count++;
	}
	return count;
}

/* Finds the last function that begins at or before the address. */
static bool find_function(const struct gopclntab *table, uint64_t address,
                          struct go_function *ret_function)
{
	uint64_t low = 0, high = table->count;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (gopclntab_entry(table, middle) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < gopclntab_entry(table, low) &&
	       gopclntab_function(table, low - 1, ret_function) && ret_function->entry <= address;
}

size_t gopclntab_find(const struct gopclntab *table, uint64_t address,
                      struct go_frame ret_frames[MAX_GO_FRAMES])
{
	struct lookup lookup = {.table = table, .steps = MAX_STEPS};

	if (!find_function(table, address, &lookup.function))
		return 0;
	size_t count = add_inlined(&lookup, &address, ret_frames);
	const struct go_function *function = &lookup.function;
	struct go_frame *frame = &ret_frames[count];
	*frame = (struct go_frame){
		.function = text_at(table->names, function->name),
		.start_line = (int32_t)function->start_line > 0 ? function->start_line : 0,
		.function_address = function->entry,
	};
	set_place(&lookup, address, frame);
	return count + 1;
}
