/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The abbreviations of the image's DIEs, and the file around the DIEs.
 */
#include "tests/unit/dwarf_image.h"
#include "tests/unit/elf_image.h"

#include <check.h>
#include <dwarf.h>
#include <string.h>

enum abbreviation { END, UNIT, UNIT_ALONE, FUNCTION, INLINED, BLOCK, CLASS, NAMESPACE, SIBLING };

enum { UNIT_HEADER_BYTES = 11 };

#define NAME  DW_AT_name, DW_FORM_string
#define RANGE DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data8

/* All numbers are below 128 and take one byte. */
static const uint8_t abbreviations[] = {
	UNIT,
	DW_TAG_compile_unit,
	DW_CHILDREN_yes,
	NAME,
	RANGE,
	0,
	0,
	UNIT_ALONE,
	DW_TAG_compile_unit,
	DW_CHILDREN_yes,
	NAME,
	0,
	0,
	FUNCTION,
	DW_TAG_subprogram,
	DW_CHILDREN_yes,
	NAME,
	RANGE,
	DW_AT_decl_line,
	DW_FORM_data4,
	0,
	0,
	INLINED,
	DW_TAG_inlined_subroutine,
	DW_CHILDREN_yes,
	NAME,
	RANGE,
	DW_AT_call_line,
	DW_FORM_data4,
	0,
	0,
	BLOCK,
	DW_TAG_lexical_block,
	DW_CHILDREN_yes,
	0,
	0,
	CLASS,
	DW_TAG_structure_type,
	DW_CHILDREN_yes,
	NAME,
	0,
	0,
	NAMESPACE,
	DW_TAG_namespace,
	DW_CHILDREN_yes,
	NAME,
	0,
	0,
	SIBLING,
	DW_TAG_lexical_block,
	DW_CHILDREN_yes,
	DW_AT_sibling,
	DW_FORM_ref4,
	0,
	0,
	0,
};

void dwarf_image_release(struct dwarf_image *image)
{
	buf_release(&image->info);
}

static void named(struct dwarf_image *image, enum abbreviation abbreviation, const char *name)
{
	buf_add_char(&image->info, (char)abbreviation);
	buf_add(&image->info, name, strlen(name) + 1);
}

static void code(struct dwarf_image *image, uint64_t start, uint64_t len)
{
	buf_add(&image->info, &start, sizeof(start));
	buf_add(&image->info, &len, sizeof(len));
}

static void number(struct dwarf_image *image, uint32_t value)
{
	buf_add(&image->info, &value, sizeof(value));
}

void image_unit(struct dwarf_image *image, uint64_t start, uint64_t len)
{
	static const uint8_t header[UNIT_HEADER_BYTES] = {[4] = 4, [10] = sizeof(uint64_t)};

	image->unit = image->info.len;
	buf_add(&image->info, header, sizeof(header));
	named(image, len ? UNIT : UNIT_ALONE, "unit.c");
	if (len)
		code(image, start, len);
}

void image_function(struct dwarf_image *image, const char *name, uint64_t start, uint64_t len,
                    uint32_t line)
{
	named(image, FUNCTION, name);
	code(image, start, len);
	number(image, line);
}

void image_inlined(struct dwarf_image *image, const char *name, uint64_t start, uint64_t len,
                   uint32_t call_line)
{
	named(image, INLINED, name);
	code(image, start, len);
	number(image, call_line);
}

void image_block(struct dwarf_image *image)
{
	buf_add_char(&image->info, BLOCK);
}

void image_class(struct dwarf_image *image, const char *name)
{
	named(image, CLASS, name);
}

void image_namespace(struct dwarf_image *image, const char *name)
{
	named(image, NAMESPACE, name);
}

void image_sibling(struct dwarf_image *image, uint32_t offset)
{
	buf_add_char(&image->info, SIBLING);
	number(image, offset);
}

size_t image_offset(const struct dwarf_image *image)
{
	return image->info.len - image->unit;
}

void image_end(struct dwarf_image *image)
{
	buf_add_char(&image->info, END);
}

void image_unit_end(struct dwarf_image *image)
{
	image_end(image);
	ck_assert_int_eq(buf_error(&image->info), 0);
	uint32_t len = (uint32_t)(image_offset(image) - sizeof(len));
	memcpy(image->info.data + image->unit, &len, sizeof(len));
}

static const char section_names[] = "\0.debug_info\0.debug_abbrev\0.shstrtab";

/* The part of the file before .debug_info. */
struct file {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[4]; /* a null section, .debug_info, .debug_abbrev, .shstrtab */
	char names[sizeof(section_names)];
	uint8_t abbreviations[sizeof(abbreviations)];
};

static Elf64_Shdr section(uint32_t name, uint32_t type, size_t offset, size_t len)
{
	return (Elf64_Shdr){
		.sh_name = name,
		.sh_type = type,
		.sh_offset = offset,
		.sh_size = len,
		.sh_addralign = 1,
	};
}

static void file_init(struct file *file, size_t info_bytes)
{
	*file = (struct file){
		.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
	                               EV_CURRENT},
	                   .e_type = ET_EXEC,
	                   .e_machine = EM_X86_64,
	                   .e_version = EV_CURRENT,
	                   .e_phoff = offsetof(struct file, segment),
	                   .e_shoff = offsetof(struct file, sections),
	                   .e_ehsize = sizeof(Elf64_Ehdr),
	                   .e_phentsize = sizeof(Elf64_Phdr),
	                   .e_phnum = 1,
	                   .e_shentsize = sizeof(Elf64_Shdr),
	                   .e_shnum = 4,
	                   .e_shstrndx = 3},
		.segment = {.p_type = PT_LOAD,
	                    .p_flags = PF_R | PF_X,
	                    .p_vaddr = CODE_START,
	                    .p_memsz = CODE_BYTES},
	};
	file->sections[1] = section(1, SHT_PROGBITS, sizeof(*file), info_bytes);
	file->sections[2] = section(13, SHT_PROGBITS, offsetof(struct file, abbreviations),
	                            sizeof(abbreviations));
	file->sections[3] =
		section(27, SHT_STRTAB, offsetof(struct file, names), sizeof(section_names));
	memcpy(file->names, section_names, sizeof(section_names));
	memcpy(file->abbreviations, abbreviations, sizeof(abbreviations));
}

int dwarf_image_fd(const struct dwarf_image *image)
{
	struct buf whole = BUF_INIT;
	struct file file;

	file_init(&file, image->info.len);
	buf_add(&whole, &file, sizeof(file));
	buf_add(&whole, image->info.data, image->info.len);
	int fd = elf_image_fd(whole.data, whole.len);
	buf_release(&whole);
	return fd;
}
