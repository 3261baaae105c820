/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as code: rows must ascend, stay inside the code and not overlap. Then the same bytes as
 * the executable segment of a file, with calls, guesses and gaps.
 */
#include "follow/follow.h"

#include <elf.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ADDRESS = 0x401000, MAX_CODE = 4096 };

struct seen {
	uint64_t start, end;
};

static int check_row(const struct frame_row *row, void *ctx)
{
	struct seen *seen = ctx;

	if (row->start < seen->start || row->start >= row->end || row->end > seen->end)
		__builtin_trap();
	seen->start = row->end;
	return 0;
}

static int check_gap_row(const struct frame_row *row, void *ctx)
{
	uint8_t *told = ctx;

	if (row->start < ADDRESS || row->start >= row->end || row->end > ADDRESS + MAX_CODE)
		__builtin_trap();
	for (uint64_t at = row->start - ADDRESS; at < row->end - ADDRESS; at++) {
		if (told[at]++)
			__builtin_trap();
	}
	return 0;
}

struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	uint8_t code[MAX_CODE];
};

static void follow_file(const uint8_t *data, size_t size)
{
	struct image image = {
		.header = {.e_type = ET_EXEC,
	                   .e_machine = EM_X86_64,
	                   .e_version = EV_CURRENT,
	                   .e_entry = ADDRESS,
	                   .e_ehsize = sizeof(Elf64_Ehdr),
	                   .e_phoff = offsetof(struct image, segment),
	                   .e_phentsize = sizeof(Elf64_Phdr),
	                   .e_phnum = 1},
		.segment = {.p_type = PT_LOAD,
	                    .p_flags = PF_R | PF_X,
	                    .p_offset = offsetof(struct image, code),
	                    .p_vaddr = ADDRESS},
	};
	const struct range described[] = {{ADDRESS + 0x80, ADDRESS + 0x90},
	                                  {ADDRESS + 0x90, ADDRESS + 0xa0}};
	uint8_t told[MAX_CODE] = {0};
	struct elf *elf;

	memcpy(image.header.e_ident, ELFMAG, SELFMAG);
	image.header.e_ident[EI_CLASS] = ELFCLASS64;
	image.header.e_ident[EI_DATA] = ELFDATA2LSB;
	image.header.e_ident[EI_VERSION] = EV_CURRENT;
	image.segment.p_filesz = image.segment.p_memsz = size;
	memcpy(image.code, data, size);
	memset(told + 0x80, 1, 0x20);
	if (elf_open_bytes(&image, sizeof(image), &elf))
		return;
	if (follow_gaps(elf, described, 2, check_gap_row, told))
		__builtin_trap();
	elf_free(elf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen seen = {.start = ADDRESS, .end = ADDRESS + size};

	follow_function(data, size, ADDRESS, check_row, &seen);
	if (size <= MAX_CODE)
		follow_file(data, size);
	return 0;
}
