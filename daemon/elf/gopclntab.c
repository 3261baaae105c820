/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Finds the table and its version, and reads the functions' records.
 */
#include "base/bounds.h"
#include "elf/gopclntab.h"
#include "elf/gopclntab_private.h"

#include <errno.h>

enum {
	HEADER_ALIGN = 8,
	POINTER_BYTES = 8,
	DATA_INLINED_CALLS = 3, /* index among a function's data tables */
};

static const struct go_layout layouts[] = {
	{.magic = 0xfffffffa, .entry_bytes = sizeof(uint64_t)}, /* 1.16 */
	{
		.magic = 0xfffffff0, /* 1.18 */
		.entry_bytes = sizeof(uint32_t),
		.has_text_start = true,
		.call_bytes = 20,
		.call_name = 12,
		.call_parent = 16,
		.module_func = 38,
	},
	{
		.magic = 0xfffffff1, /* 1.20 */
		.entry_bytes = sizeof(uint32_t),
		.has_text_start = true,
		.has_start_line = true,
		.call_bytes = 16,
		.call_name = 4,
		.call_parent = 8,
		.call_start_line = 12,
		.module_func = 40,
	},
};

static const struct go_layout *find_layout(uint32_t magic)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
		if (layouts[i].magic == magic)
			return &layouts[i];
	}
	return NULL;
}

static struct span take_span(struct cursor *header, struct span all)
{
	return span_from(all, cursor_u64(header));
}

/* Reads the header at an offset in the section. */
static bool read_header(struct gopclntab *table, size_t offset)
{
	struct span all =
		span_from((struct span){table->section.bytes, table->section.len}, offset);
	struct cursor header = span_cursor(all);
	const struct go_layout *layout = find_layout(cursor_u32(&header));
	uint16_t zero = cursor_u16(&header);
	uint8_t quantum = cursor_u8(&header), pointer_bytes = cursor_u8(&header);

	if (header.broken || !layout || zero || pointer_bytes != POINTER_BYTES ||
	    (quantum != 1 && quantum != 2 && quantum != 4))
		return false;
	table->layout = layout;
	table->address = table->section.address + offset;
	table->quantum = quantum;
	table->count = cursor_u64(&header);
	cursor_u64(&header); /* number of files */
	table->text = layout->has_text_start ? cursor_u64(&header) : 0;
	table->names = take_span(&header, all);
	table->units = take_span(&header, all);
	table->files = take_span(&header, all);
	table->values = take_span(&header, all);
	table->functions = take_span(&header, all);
	/* The index has one more address behind the last function: the end of that function. */
	return !header.broken && table->names.len > table->units.len &&
	       table->units.len >= table->files.len && table->files.len >= table->values.len &&
	       table->values.len >= table->functions.len && table->count &&
	       table->count < table->functions.len / (2 * (size_t)layout->entry_bytes);
}

/* A linker that merges sections leaves the table somewhere in a section. The search tries every
 * aligned offset. */
static bool search_header(struct gopclntab *table)
{
	for (size_t at = -table->section.address % HEADER_ALIGN; at < table->section.len;
	     at += HEADER_ALIGN) {
		if (read_header(table, at))
			return true;
	}
	return false;
}

/* Returns 0; -ENOENT when the file has no table; -EBADMSG or another error when the table cannot be
 * read. */
static int read_table(struct gopclntab *table, const struct elf *elf)
{
	static const char *const own[] = {".gopclntab", ".data.rel.ro.gopclntab"};
	static const char *const merged[] = {".data.rel.ro", ".rodata"};
	struct elf_section *section = &table->section;
	int err;

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
		err = elf_read_section(elf, own[i], MAX_SECTION_BYTES, section);
		if (err == 0)
			return read_header(table, 0) ? 0 : -EBADMSG;
		if (err != -ENOENT)
			return err;
	}
	if (!elf_has_section(elf, ".go.buildinfo"))
		return -ENOENT;
	for (size_t i = 0; i < sizeof(merged) / sizeof(*merged); i++) {
		err = elf_read_section(elf, merged[i], MAX_SECTION_BYTES, section);
		if (err == 0 && search_header(table))
			return 0;
		free(TAKE_PTR(section->bytes));
		if (err == -ENOMEM)
			return err;
	}
	return -ENOENT;
}

int gopclntab_open(const struct elf *elf, struct gopclntab **ret_table)
{
	_cleanup_(gopclntab_freep) struct gopclntab *table = calloc(1, sizeof(*table));

	if (!table)
		return -ENOMEM;
	int err = read_table(table, elf);
	if (err == 0)
		err = gopclntab_locate(table, elf);
	if (err < 0)
		return err;
	*ret_table = TAKE_PTR(table);
	return 0;
}

void gopclntab_free(struct gopclntab *table)
{
	if (!table)
		return;
	free(table->section.bytes);
	free(table->calls_copy);
	free(table);
}

size_t gopclntab_memory(const struct gopclntab *table)
{
	return sizeof(*table) + table->section.len + table->calls_copy_len;
}

static uint64_t take_entry(const struct gopclntab *table, struct cursor *cursor)
{
	if (table->layout->entry_bytes == sizeof(uint64_t))
		return cursor_u64(cursor);
	return cursor_u32(cursor);
}

uint64_t gopclntab_entry(const struct gopclntab *table, uint64_t index)
{
	size_t pair = 2 * (size_t)table->layout->entry_bytes;
	struct cursor cursor = span_cursor(span_from(table->functions, index * pair));

	return table->text + take_entry(table, &cursor);
}

bool gopclntab_function(const struct gopclntab *table, uint64_t index,
                        struct go_function *ret_function)
{
	size_t pair = 2 * (size_t)table->layout->entry_bytes;
	struct cursor at = span_cursor(span_from(table->functions, index * pair));
	struct go_function function = {.entry = table->text + take_entry(table, &at)};
	struct cursor record = span_cursor(span_from(table->functions, take_entry(table, &at)));

	take_entry(table, &record); /* the entry address again */
	function.name = cursor_u32(&record);
	cursor_u32(&record); /* bytes of arguments */
	cursor_u32(&record); /* where the function returns to from deferred calls */
	cursor_u32(&record); /* offset of the values for the stack depth */
	function.file_values = cursor_u32(&record);
	function.line_values = cursor_u32(&record);
	function.value_tables = cursor_u32(&record);
	function.unit = cursor_u32(&record);
	function.start_line = table->layout->has_start_line ? cursor_u32(&record) : 0;
	cursor_bytes(&record, 3); /* ID of special runtime functions, flags */
	function.data_tables = cursor_u8(&record);
	if (at.broken || record.broken)
		return false;
	function.tables = (struct span){record.at, cursor_left(&record)};
	*ret_function = function;
	return true;
}

bool gopclntab_calls(const struct go_function *function, uint32_t *ret_offset)
{
	size_t index = (size_t)function->value_tables + DATA_INLINED_CALLS;
	struct cursor at = span_cursor(span_from(function->tables, index * sizeof(uint32_t)));
	uint32_t offset = cursor_u32(&at);

	if (function->data_tables <= DATA_INLINED_CALLS || at.broken || offset == UINT32_MAX)
		return false;
	*ret_offset = offset;
	return true;
}
