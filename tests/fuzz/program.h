/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A shared object around bytes that become its code and data, with symbols that a fuzz target
 * chooses, so that mutations need not get through the headers first.
 */
#pragma once

#include "elf/elf.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRAM_ADDRESS = 0x10000, PROGRAM_SYMBOLS = 7 };

struct program {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[3];             /* none, symbols, names */
	Elf64_Sym symbols[PROGRAM_SYMBOLS]; /* none, then the target's; the rest has no names */
	char names[128];
	uint8_t bytes[]; /* at PROGRAM_ADDRESS */
};

/* Makes a file with these bytes, and with names in the format of a string table; the caller adds
 * the symbols. NULL: out of memory. */
static inline struct program *program_new(const uint8_t *data, size_t size, uint16_t machine,
                                          const char *names, size_t names_size)
{
	struct program *program = calloc(1, sizeof(*program) + size);

	if (!program)
		return NULL;
	program->header = (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
	                    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = machine,
		.e_version = EV_CURRENT,
		.e_phoff = offsetof(struct program, segment),
		.e_shoff = offsetof(struct program, sections),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
	};
	program->segment = (Elf64_Phdr){.p_type = PT_LOAD,
	                                .p_flags = PF_R | PF_X,
	                                .p_offset = sizeof(*program),
	                                .p_vaddr = PROGRAM_ADDRESS,
	                                .p_filesz = size,
	                                .p_memsz = size};
	program->sections[1] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
	                                    .sh_offset = offsetof(struct program, symbols),
	                                    .sh_size = sizeof(program->symbols),
	                                    .sh_link = 2,
	                                    .sh_entsize = sizeof(Elf64_Sym)};
	program->sections[2] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
	                                    .sh_offset = offsetof(struct program, names),
	                                    .sh_size = sizeof(program->names)};
	memcpy(program->names, names, names_size);
	if (size)
		memcpy(program->bytes, data, size);
	return program;
}

/* `at` counts from the first of the bytes. */
static inline Elf64_Sym program_symbol(uint32_t name, unsigned char type, uint64_t at,
                                       uint64_t size)
{
	return (Elf64_Sym){
		.st_name = name,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, type),
		.st_shndx = 1,
		.st_value = PROGRAM_ADDRESS + at,
		.st_size = size,
	};
}
