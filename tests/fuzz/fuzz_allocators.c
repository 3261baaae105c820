/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as a program, and as the code of one that has an allocator's functions. What is probed
 * is in the file.
 */
#include "heap/allocators.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ADDRESS = 0x10000, SYMBOLS = 7, FUNCTION = 0x40 };

struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[3]; /* none, symbols, names */
	Elf64_Sym symbols[SYMBOLS];
	char names[64];
	uint8_t bytes[];
};

static const char names[] = "\0malloc\0free\0_Znwm\0_ZdlPv\0__cxa_throw\0realloc";

static void init(struct image *image, size_t size, uint16_t machine)
{
	static const uint32_t offsets[SYMBOLS] = {0, 1, 8, 13, 19, 26, 38};

	image->header = (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
	                    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = machine,
		.e_version = EV_CURRENT,
		.e_phoff = offsetof(struct image, segment),
		.e_shoff = offsetof(struct image, sections),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
	};
	image->segment = (Elf64_Phdr){.p_type = PT_LOAD,
	                              .p_flags = PF_R | PF_X,
	                              .p_offset = sizeof(*image),
	                              .p_vaddr = ADDRESS,
	                              .p_filesz = size,
	                              .p_memsz = size};
	image->sections[1] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
	                                  .sh_offset = offsetof(struct image, symbols),
	                                  .sh_size = sizeof(image->symbols),
	                                  .sh_link = 2,
	                                  .sh_entsize = sizeof(Elf64_Sym)};
	image->sections[2] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
	                                  .sh_offset = offsetof(struct image, names),
	                                  .sh_size = sizeof(image->names)};
	memcpy(image->names, names, sizeof(names));
	for (size_t i = 1; i < SYMBOLS; i++)
		image->symbols[i] = (Elf64_Sym){
			.st_name = offsets[i],
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = 1,
			.st_value = ADDRESS + (i - 1) * FUNCTION,
			.st_size = FUNCTION,
		};
}

static void check(const struct elf *elf, size_t len)
{
	const struct heap_file files[] = {{elf, true}, {elf, false}};
	_cleanup_free_ struct heap_allocator *found = NULL;
	int count = heap_allocators(files, 2, &found);

	if (count > MAX_ALLOCATORS)
		abort();
	for (int i = 0; i < count; i++) {
		if (found[i].file > 1 || found[i].site_count > MAX_HEAP_SITES)
			abort();
		for (size_t j = 0; j < found[i].site_count; j++) {
			const struct heap_site *site = &found[i].sites[j];
			bool throws = heap_call_info(site->call)->throws;

			if (site->function >= len || site->entry - site->function > 64 ||
			    throws != (site->return_count > 0))
				abort();
			for (size_t k = 0; k < site->return_count; k++) {
				if (site->returns[k] >= len)
					abort();
			}
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint16_t machines[] = {EM_X86_64, EM_AARCH64};
	struct elf *elf;

	if (elf_open_bytes(data, size, &elf) == 0) {
		check(elf, size);
		elf_free(elf);
	}
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		_cleanup_free_ struct image *image = calloc(1, sizeof(*image) + size);

		if (!image)
			return 0;
		init(image, size, machines[i]);
		if (size)
			memcpy(image->bytes, data, size);
		if (elf_open_bytes(image, sizeof(*image) + size, &elf) == 0) {
			check(elf, sizeof(*image) + size);
			elf_free(elf);
		}
	}
	return 0;
}
