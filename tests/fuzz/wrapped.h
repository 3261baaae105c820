/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An ELF file around bytes that become one of its sections, so that mutations need not get through
 * the headers first.
 */
#pragma once

#include "elf/elf.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { WRAPPED_TEXT = 0x10000, WRAPPED_SECTION = 0x20000 };

struct wrapped {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2]; /* code without bytes in the file, the section */
	Elf64_Shdr sections[4]; /* none, names, the section, .go.buildinfo */
	char names[64];
	uint8_t bytes[];
};

static inline void wrapped_sections(struct wrapped *file, size_t size)
{
	file->segments[0] = (Elf64_Phdr){.p_type = PT_LOAD,
	                                 .p_flags = PF_R | PF_X,
	                                 .p_vaddr = WRAPPED_TEXT,
	                                 .p_memsz = 0x10000};
	file->segments[1] = (Elf64_Phdr){.p_type = PT_LOAD,
	                                 .p_flags = PF_R,
	                                 .p_offset = sizeof(*file),
	                                 .p_vaddr = WRAPPED_SECTION,
	                                 .p_filesz = size,
	                                 .p_memsz = size};
	file->sections[1] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
	                                 .sh_offset = offsetof(struct wrapped, names),
	                                 .sh_size = sizeof(file->names)};
	file->sections[2] = (Elf64_Shdr){.sh_name = 16,
	                                 .sh_type = SHT_PROGBITS,
	                                 .sh_flags = SHF_ALLOC,
	                                 .sh_addr = WRAPPED_SECTION,
	                                 .sh_offset = sizeof(*file),
	                                 .sh_size = size};
	file->sections[3] = (Elf64_Shdr){.sh_name = 1,
	                                 .sh_type = SHT_PROGBITS,
	                                 .sh_offset = offsetof(struct wrapped, names),
	                                 .sh_size = 1};
}

/* The caller frees the result; NULL when out of memory. The name has at most 40 characters. */
static inline struct wrapped *wrapped_new(const char *name, const uint8_t *data, size_t size,
                                          size_t *ret_len)
{
	struct wrapped *file = calloc(1, sizeof(*file) + size);

	if (!file)
		return NULL;
	file->header = (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
	                    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = offsetof(struct wrapped, segments),
		.e_shoff = offsetof(struct wrapped, sections),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 4,
		.e_shstrndx = 1,
	};
	memcpy(file->names + 1, ".go.buildinfo", sizeof(".go.buildinfo"));
	memcpy(file->names + 16, name, strlen(name));
	wrapped_sections(file, size);
	if (size)
		memcpy(file->bytes, data, size);
	*ret_len = sizeof(*file) + size;
	return file;
}
