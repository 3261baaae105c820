/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as an executable, and as the data, texts and code of one that has CPython's symbols.
 * What is understood never leads the kernel half further than it reads.
 */
#include "interp/python_build.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ADDRESS = 0x10000, SYMBOLS = 4, CODE = 0x80, TEXT = 0x400 };

struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[3]; /* none, symbols, names */
	Elf64_Sym symbols[SYMBOLS];
	char names[128];
	uint8_t bytes[];
};

static const char names[] = "\0_PyRuntime\0Py_Version\0_PyEval_EvalFrameDefault";

static Elf64_Sym symbol(uint32_t name, int type, uint64_t address, uint64_t size)
{
	return (Elf64_Sym){
		.st_name = name,
		.st_info = (unsigned char)ELF64_ST_INFO(STB_GLOBAL, type),
		.st_shndx = 1,
		.st_value = ADDRESS + address,
		.st_size = size,
	};
}

static void init(struct image *image, size_t size, bool with_version)
{
	image->header = (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
	                    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
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
	image->symbols[1] = symbol(1, STT_OBJECT, 0, 8);
	if (with_version)
		image->symbols[2] = symbol(12, STT_OBJECT, 8, 8);
	image->symbols[3] = symbol(23, STT_FUNC, CODE, TEXT - CODE < size ? TEXT - CODE : size);
}

static void check(const struct elf *elf)
{
	struct python_process process;
	int result = python_build_read(elf, &process);

	if (result) {
		if (result != -ENOENT && result != -ENOTSUP && result != -EBADMSG &&
		    result != -ENOMEM)
			abort();
		return;
	}
	if (process.version < 0x0308 || process.version > 0x030e || !process.entry ||
	    process.entry > PYTHON_ENTRY_SHIM || process.frame_previous > 120 ||
	    process.frame_code > 120 || process.frame_instruction > 120 ||
	    process.frame_owner > 120 || process.frame_entry > 120 || process.frame_tlbc > 120 ||
	    process.code_filename > 248 || process.code_name > 248 || process.code_lines > 248 ||
	    process.code_qualname > 248 || process.code_first_line > 248 || process.code_tlbc > 248)
		abort();
	for (size_t i = 0; i < PYTHON_LOOPS; i++) {
		if (process.loops[i][0] > process.loops[i][1])
			abort();
	}
	python_build_move(&process, UINT64_MAX - 5);
}

static void check_wrapped(const uint8_t *data, size_t size, bool with_version)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	_cleanup_free_ struct image *image = calloc(1, sizeof(*image) + size);

	if (!image)
		return;
	init(image, size, with_version);
	if (size)
		memcpy(image->bytes, data, size);
	if (elf_open_bytes(image, sizeof(*image) + size, &elf) == 0)
		check(elf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;

	if (elf_open_bytes(data, size, &elf) == 0)
		check(elf);
	check_wrapped(data, size, false);
	check_wrapped(data, size, true);
	return 0;
}
