/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Writes the parts of the table one after the other, as Go's linker does.
 */
#include "tests/unit/go_image.h"

#include <check.h>
#include <string.h>

enum {
	NAME_MAIN = 1,
	NAME_INLINED = 11,
	NAME_DEEPER = 24,
	NAME_OTHER = 36,
	CALLS_OFFSET = 8,
	MODULE_WORDS = 48,
};

static const char names[] = "\0main.main\0main.inlined\0main.deeper\0main.other";
static const char files[] = "\0/src/a.go\0/src/b.go";
static const uint32_t units[] = {UINT32_MAX, 1, 11};

/* Lists of pairs: the change of a value, in zigzag encoding, and the number of bytes of code with
 * that value. */
/* clang-format off */
static const uint8_t values[] = {
	0,
	2, 0x18, 2, 0x08, 1, 0x20, 0,                    /* at 1: files 0, 1, 0 */
	22, 0x10, 80, 0x08, 80, 0x08, 0x9d, 1, 0x20, 0,  /* at 8: lines 10, 50, 90, 11 */
	0, 0x10, 2, 0x08, 2, 0x08, 3, 0x20, 0,           /* at 18: calls none, 0, 1, none */
	4, 0x40, 0,                                      /* at 27: file 1 */
	16, 0x40, 0,                                     /* at 30: line 7 */
};
/* clang-format on */

void go_image_init(struct go_image *image)
{
	*image = (struct go_image){
		.magic = GO_120,
		.table_section = ".gopclntab",
		.module_section = ".go.module",
	};
}

void go_image_release(struct go_image *image)
{
	buf_release(&image->table);
	buf_release(&image->calls);
	section_image_release(&image->file);
}

static void add_u32(struct buf *out, uint32_t value)
{
	buf_add(out, &value, sizeof(value));
}

static void add_u64(struct buf *out, uint64_t value)
{
	buf_add(out, &value, sizeof(value));
}

static void add_entry(struct go_image *image, uint64_t value)
{
	if (image->magic == GO_116)
		add_u64(&image->table, value);
	else
		add_u32(&image->table, (uint32_t)value);
}

static void add_part(struct go_image *image, size_t part, const void *bytes, size_t len)
{
	while (image->table.len % sizeof(uint64_t))
		buf_add(&image->table, "", 1);
	image->table_offsets[part] = image->table.len;
	buf_add(&image->table, bytes, len);
}

struct record {
	uint32_t name, file_values, line_values, call_values, start_line, calls;
};

static void add_record(struct go_image *image, uint64_t entry, const struct record *record)
{
	const uint8_t flags[] = {0, 0, 0, 4};

	add_entry(image, entry);
	add_u32(&image->table, record->name);
	add_u32(&image->table, 0);
	add_u32(&image->table, 0);
	add_u32(&image->table, 0);
	add_u32(&image->table, record->file_values);
	add_u32(&image->table, record->line_values);
	add_u32(&image->table, 3);
	add_u32(&image->table, 1); /* index of the unit's first file */
	if (image->magic == GO_120)
		add_u32(&image->table, record->start_line);
	buf_add(&image->table, flags, sizeof(flags));
	add_u32(&image->table, 0);
	add_u32(&image->table, 0);
	add_u32(&image->table, record->call_values);
	for (int i = 0; i < 3; i++)
		add_u32(&image->table, UINT32_MAX);
	add_u32(&image->table, record->calls);
}

static void add_functions(struct go_image *image)
{
	static const struct record records[] = {
		{NAME_MAIN, 1, 8, 18, 9, CALLS_OFFSET},
		{NAME_OTHER, 27, 30, 0, 6, UINT32_MAX},
	};
	bool old = image->magic == GO_116;
	uint64_t text = old ? GO_TEXT : 0, index_len = old ? 5 * 8 : 5 * 4;
	uint64_t record_len = image->magic == GO_118 ? 68 : 72;

	add_part(image, 4, "", 0);
	for (uint64_t i = 0; i < 2; i++) {
		add_entry(image, text + 0x40 * i);
		add_entry(image, index_len + record_len * i);
	}
	add_entry(image, text + 0x80);
	for (uint64_t i = 0; i < 2; i++)
		add_record(image, text + 0x40 * i, &records[i]);
}

static void add_call(struct go_image *image, uint32_t name, uint32_t parent, uint32_t start_line)
{
	if (image->magic == GO_120) {
		add_u32(&image->calls, 0);
		add_u32(&image->calls, name);
		add_u32(&image->calls, parent);
		add_u32(&image->calls, start_line);
		return;
	}
	for (int i = 0; i < 3; i++)
		add_u32(&image->calls, 12345);
	add_u32(&image->calls, name);
	add_u32(&image->calls, parent);
}

void go_image_make(struct go_image *image)
{
	const uint8_t sizes[] = {0, 0, 1, 8};
	size_t offsets = image->magic == GO_116 ? 24 : 32;

	add_u32(&image->table, image->magic);
	buf_add(&image->table, sizes, sizeof(sizes));
	add_u64(&image->table, 2);
	add_u64(&image->table, 2);
	if (image->magic != GO_116)
		add_u64(&image->table, image->text_start);
	for (int i = 0; i < 5; i++)
		add_u64(&image->table, 0);
	add_part(image, 0, names, sizeof(names));
	add_part(image, 1, units, sizeof(units));
	add_part(image, 2, files, sizeof(files));
	add_part(image, 3, values, sizeof(values));
	add_functions(image);
	memcpy((uint8_t *)image->table.data + offsets, image->table_offsets,
	       sizeof(image->table_offsets));
	add_u64(&image->calls, 0); /* other data */
	add_call(image, NAME_INLINED, 0x08, 45);
	add_call(image, NAME_DEEPER, 0x12, 85);
}

static void add_module(struct go_image *image)
{
	uint64_t words[MODULE_WORDS] = {0}, table = GO_TABLE + image->before;
	Elf64_Rela relocations[MODULE_WORDS];
	size_t count = 0;

	words[2] = table; /* a pointer to the table that is not the one in moduledata */
	uint64_t *module = words + 4;
	module[0] = table;
	for (int i = 0; i < 5; i++)
		module[1 + 3 * i] = table + image->table_offsets[i];
	module[22] = GO_TEXT;
	module[23] = GO_TEXT + 0x80;
	module[image->magic == GO_120 ? 40 : 38] = GO_CALLS;
	for (size_t i = 0; i < MODULE_WORDS; i++) {
		if (!words[i])
			continue;
		relocations[count++] = (Elf64_Rela){
			.r_offset = GO_DATA + i * sizeof(*words),
			.r_info = ELF64_R_INFO(0, R_X86_64_RELATIVE),
			.r_addend = (int64_t)words[i],
		};
	}
	if (image->relocated) {
		memset(words, 0, sizeof(words));
		section_image_add(&image->file, ".rela.dyn", 0, relocations,
		                  count * sizeof(*relocations));
	}
	section_image_add(&image->file, image->module_section, GO_DATA, words, sizeof(words));
}

struct elf *go_image_open(struct go_image *image)
{
	static const uint8_t text[0x80];
	struct buf section = {0};

	section_image_release(&image->file);
	section_image_init(&image->file);
	section_image_add(&image->file, ".text", GO_TEXT, text, sizeof(text));
	section_image_add(&image->file, ".go.buildinfo", 0, "x", 1);
	for (size_t i = 0; i < image->before; i++)
		buf_add(&section, "\xff", 1);
	buf_add(&section, image->table.data, image->table.len);
	section_image_add(&image->file, image->table_section, GO_TABLE, section.data, section.len);
	buf_release(&section);
	add_module(image);
	section_image_add(&image->file, ".calls", GO_CALLS, image->calls.data, image->calls.len);
	return section_image_open(&image->file);
}
