/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Writes the contents first, and the headers after them.
 */
#include "tests/unit/section_image.h"

#include <check.h>
#include <string.h>

static const char names_section[] = ".names";

void section_image_init(struct section_image *image)
{
	const Elf64_Ehdr header = {0};

	memset(image, 0, sizeof(*image));
	image->machine = EM_X86_64;
	image->section_count = 1;
	buf_add(&image->out, &header, sizeof(header));
	buf_add(&image->names, "", 1);
}

void section_image_release(struct section_image *image)
{
	buf_release(&image->out);
	buf_release(&image->names);
}

static void align(struct buf *out)
{
	while (out->len % sizeof(uint64_t))
		buf_add(out, "", 1);
}

static uint32_t section_type(const char *name)
{
	if (!strncmp(name, ".rela", 5))
		return SHT_RELA;
	if (!strncmp(name, ".note", 5))
		return SHT_NOTE;
	return !strcmp(name, names_section) ? SHT_STRTAB : SHT_PROGBITS;
}

void section_image_add(struct section_image *image, const char *name, uint64_t address,
                       const void *bytes, size_t len)
{
	bool executable = !strncmp(name, ".text", 5) || !strncmp(name, ".plt", 4);

	ck_assert_uint_lt(image->section_count, SECTION_IMAGE_MOST);
	align(&image->out);
	image->sections[image->section_count++] = (Elf64_Shdr){
		.sh_name = (uint32_t)image->names.len,
		.sh_type = section_type(name),
		.sh_flags = address ? SHF_ALLOC : 0,
		.sh_addr = address,
		.sh_offset = image->out.len,
		.sh_size = len,
	};
	if (address)
		image->segments[image->segment_count++] = (Elf64_Phdr){
			.p_type = PT_LOAD,
			.p_flags = executable ? PF_R | PF_X : PF_R,
			.p_offset = image->out.len,
			.p_vaddr = address,
			.p_filesz = len,
			.p_memsz = len,
		};
	buf_add(&image->names, name, strlen(name) + 1);
	if (len)
		buf_add(&image->out, bytes, len);
}

void section_image_seal(struct section_image *image)
{
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
	                    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = image->machine,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (uint16_t)image->segment_count,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (uint16_t)image->section_count + 1,
		.e_shstrndx = (uint16_t)image->section_count,
	};
	size_t names_len = image->names.len + sizeof(names_section);
	char *names = calloc(1, names_len);

	memcpy(names, image->names.data, image->names.len);
	memcpy(names + image->names.len, names_section, sizeof(names_section));
	section_image_add(image, names_section, 0, names, names_len);
	free(names);
	align(&image->out);
	header.e_phoff = image->out.len;
	buf_add(&image->out, image->segments, image->segment_count * sizeof(*image->segments));
	header.e_shoff = image->out.len;
	buf_add(&image->out, image->sections, image->section_count * sizeof(*image->sections));
	memcpy(image->out.data, &header, sizeof(header));
	ck_assert_int_eq(buf_error(&image->out), 0);
}

struct elf *section_image_open(struct section_image *image)
{
	struct elf *elf = NULL;

	section_image_seal(image);
	ck_assert_int_eq(elf_open_bytes(image->out.data, image->out.len, &elf), 0);
	return elf;
}
