/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The image with which the tests of elf/, object/ and symbolize/ start. It lacks the bytes of the
 * text segment, because no test reads them.
 */
#include "tests/unit/elf_image.h"

#include <check.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static Elf64_Sym symbol(uint32_t name, int bind, int type, uint64_t address, uint64_t size)
{
	return (Elf64_Sym){
		.st_name = name,
		.st_info = (unsigned char)ELF64_ST_INFO(bind, type),
		.st_shndx = 1,
		.st_value = address,
		.st_size = size,
	};
}

static void init_header(Elf64_Ehdr *header)
{
	*header = (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
	                    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = offsetof(struct elf_image, segments),
		.e_shoff = offsetof(struct elf_image, sections),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 3,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
	};
}

void elf_image_init(struct elf_image *image, uint8_t seed)
{
	static const char names[] = "\0plain\0_ZN3foo3barEi\0local\0data\0";

	memset(image, 0, sizeof(*image));
	init_header(&image->header);
	image->segments[0] = (Elf64_Phdr){.p_type = PT_LOAD,
	                                  .p_flags = PF_R,
	                                  .p_vaddr = 0x400000,
	                                  .p_filesz = 0x1100,
	                                  .p_memsz = 0x1100};
	image->segments[1] = (Elf64_Phdr){.p_type = PT_LOAD,
	                                  .p_flags = PF_R | PF_X,
	                                  .p_offset = 0x1000,
	                                  .p_vaddr = 0x401000,
	                                  .p_filesz = 0x800,
	                                  .p_memsz = 0x800};
	image->segments[2] = (Elf64_Phdr){.p_type = PT_NOTE,
	                                  .p_offset = offsetof(struct elf_image, note),
	                                  .p_filesz = sizeof(image->note),
	                                  .p_align = 4};
	image->note.header = (Elf64_Nhdr){4, sizeof(image->note.id), NT_GNU_BUILD_ID};
	memcpy(image->note.owner, "GNU", 4);
	for (size_t i = 0; i < sizeof(image->note.id); i++)
		image->note.id[i] = (uint8_t)(seed + i);

	memcpy(image->names, names, sizeof(names));
	image->symbols[1] = symbol(1, STB_GLOBAL, STT_FUNC, 0x401000, 0x40);
	image->symbols[2] = symbol(7, STB_GLOBAL, STT_FUNC, 0x401040, 0x20);
	image->symbols[3] = symbol(21, STB_LOCAL, STT_FUNC, 0x401100, 0x10);
	/* These two are not functions of this file. */
	image->symbols[4] = symbol(27, STB_GLOBAL, STT_OBJECT, 0x401200, 0x10);
	image->symbols[5] = symbol(27, STB_GLOBAL, STT_FUNC, 0, 0);
	image->symbols[5].st_shndx = SHN_UNDEF;
	image->sections[1] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
	                                  .sh_offset = offsetof(struct elf_image, symbols),
	                                  .sh_size = sizeof(image->symbols),
	                                  .sh_link = 2,
	                                  .sh_entsize = sizeof(Elf64_Sym)};
	image->sections[2] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
	                                  .sh_offset = offsetof(struct elf_image, names),
	                                  .sh_size = sizeof(image->names)};
}

int elf_image_fd(const void *bytes, size_t len)
{
	int fd = memfd_create("image", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, len), (ssize_t)len);
	return fd;
}
