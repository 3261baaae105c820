/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Finds what the table itself does not contain: where the code begins (the linker leaves that out,
 * because it would need a relocation) and where the functions' data is. The runtime's moduledata
 * has both. It has a symbol only in a file with symbols, but it begins with a pointer to the table
 * followed by pointers into the table, which no other data does.
 */
#include "base/bounds.h"
#include "elf/gopclntab.h"
#include "elf/gopclntab_private.h"

#include <errno.h>

/* Word numbers in moduledata; a Go slice takes three words. */
enum {
	MODULE_TABLE = 0,
	MODULE_NAMES = 1,
	MODULE_UNITS = 4,
	MODULE_FILES = 7,
	MODULE_VALUES = 10,
	MODULE_FUNCTIONS = 13,
	MODULE_TEXT = 22,
	MODULE_TEXT_END = 23,
	MODULE_WORDS = 41,
};

enum {
	MAX_DATA_BYTES = 128 << 20, /* bound on a section that is searched */
	MAX_CANDIDATES = 8,         /* pointers to the table; one of them is in moduledata */
	MAX_CALLS_BYTES = 256 << 20,
	/* Bytes for the inlined calls of the last function: 4000 calls. */
	LAST_CALLS_BYTES = 64 * 1024,
};

struct module {
	uint64_t place;
	uint64_t words[MODULE_WORDS];
};

struct candidates {
	uint64_t table;
	struct module modules[MAX_CANDIDATES];
	size_t count;
};

static bool is_text(const struct elf *elf, uint64_t address)
{
	size_t count;
	const struct segment *segments = elf_segments(elf, &count);

	for (size_t i = 0; i < count; i++) {
		if (segments[i].executable && address >= segments[i].address &&
		    address - segments[i].address < segments[i].memory_bytes)
			return true;
	}
	return false;
}

static uint64_t span_address(const struct gopclntab *table, struct span span)
{
	return table->section.address + (uint64_t)(span.bytes - table->section.bytes);
}

static bool is_module(const struct gopclntab *table, const uint64_t *words)
{
	return words[MODULE_TABLE] == table->address &&
	       words[MODULE_NAMES] == span_address(table, table->names) &&
	       words[MODULE_UNITS] == span_address(table, table->units) &&
	       words[MODULE_FILES] == span_address(table, table->files) &&
	       words[MODULE_VALUES] == span_address(table, table->values) &&
	       words[MODULE_FUNCTIONS] == span_address(table, table->functions) &&
	       words[MODULE_TEXT] < words[MODULE_TEXT_END];
}

static bool search_bytes(const struct gopclntab *table, const struct elf_section *section,
                         struct module *module)
{
	uint64_t word;

	for (size_t at = 0; section->len - at >= sizeof(module->words); at += sizeof(word)) {
		memcpy(&word, section->bytes + at, sizeof(word));
		if (word != table->address)
			continue;
		memcpy(module->words, section->bytes + at, sizeof(module->words));
		if (is_module(table, module->words))
			return true;
	}
	return false;
}

/* Searches the data sections: a file at fixed addresses holds the pointers there. */
static int search_data(const struct gopclntab *table, const struct elf *elf, struct module *module)
{
	static const char *const names[] = {".go.module", ".noptrdata", ".data", ".data.rel.ro"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct elf_section section;
		int err = elf_read_section(elf, names[i], MAX_DATA_BYTES, &section);

		if (err == -ENOMEM)
			return err;
		if (err < 0)
			continue;
		bool found = search_bytes(table, &section, module);
		free(section.bytes);
		if (found)
			return 0;
	}
	return -ENOENT;
}

static int note_candidate(uint64_t place, uint64_t address, void *ctx)
{
	struct candidates *candidates = ctx;

	if (address == candidates->table && candidates->count < MAX_CANDIDATES)
		candidates->modules[candidates->count++].place = place;
	return 0;
}

static int fill_candidate(uint64_t place, uint64_t address, void *ctx)
{
	struct candidates *candidates = ctx;

	for (size_t i = 0; i < candidates->count; i++) {
		uint64_t word = (place - candidates->modules[i].place) / sizeof(address);

		if (place >= candidates->modules[i].place && word < MODULE_WORDS)
			candidates->modules[i].words[word] = address;
	}
	return 0;
}

/* Searches the relocations: they make the pointers in a file that can be loaded at any address. */
static int search_pointers(const struct gopclntab *table, const struct elf *elf,
                           struct module *module)
{
	struct candidates candidates = {.table = table->address};

	elf_each_pointer(elf, note_candidate, &candidates);
	if (candidates.count)
		elf_each_pointer(elf, fill_candidate, &candidates);
	for (size_t i = 0; i < candidates.count; i++) {
		if (is_module(table, candidates.modules[i].words)) {
			*module = candidates.modules[i];
			return 0;
		}
	}
	return -ENOENT;
}

/* How many bytes of the function data the inlined calls take. */
static uint64_t calls_len(const struct gopclntab *table)
{
	struct go_function function;
	uint64_t last = 0;
	uint32_t offset;

	for (uint64_t i = 0; i < table->count; i++) {
		if (gopclntab_function(table, i, &function) &&
		    gopclntab_calls(&function, &offset) && offset > last)
			last = offset;
	}
	return last + LAST_CALLS_BYTES;
}

static int read_calls(struct gopclntab *table, const struct elf *elf, uint64_t address)
{
	uint64_t at = address - table->section.address, len = calls_len(table), left = 0;
	size_t count;
	const struct segment *segments = elf_segments(elf, &count);

	if (address >= table->section.address && at < table->section.len) {
		table->calls =
			(struct span){table->section.bytes + at, table->section.len - (size_t)at};
		return 0;
	}
	for (size_t i = 0; i < count && !left; i++) {
		if (address >= segments[i].address &&
		    address - segments[i].address < segments[i].file_bytes)
			left = segments[i].file_bytes - (address - segments[i].address);
	}
	len = len < left ? len : left;
	if (!len || len > MAX_CALLS_BYTES)
		return 0;
	_cleanup_free_ uint8_t *bytes = malloc(len);
	if (!bytes)
		return -ENOMEM;
	if (elf_read_address(elf, address, bytes, len) < 0)
		return 0;
	table->calls_copy = TAKE_PTR(bytes);
	table->calls_copy_len = len;
	table->calls = (struct span){table->calls_copy, len};
	return 0;
}

static int see_symbol(const char *name, uint64_t address, uint64_t size, bool global, void *ctx)
{
	uint64_t *text = ctx;

	(void)size;
	(void)global;
	if (strcmp(name, "runtime.text") != 0)
		return 0;
	*text = address;
	return 1;
}

int gopclntab_locate(struct gopclntab *table, const struct elf *elf)
{
	struct module module = {0};
	int err;

	/* The oldest version has absolute addresses, and its function data is not easily found. */
	if (!table->layout->has_text_start)
		return 0;
	err = search_data(table, elf, &module);
	if (err == -ENOENT)
		err = search_pointers(table, elf, &module);
	if (err == -ENOMEM)
		return err;
	if (err == 0 && is_text(elf, module.words[MODULE_TEXT])) {
		table->text = module.words[MODULE_TEXT];
		return read_calls(table, elf, module.words[table->layout->module_func]);
	}
	elf_each_symbol(elf, see_symbol, &table->text);
	return is_text(elf, table->text) ? 0 : -EBADMSG;
}
