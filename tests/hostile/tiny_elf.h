/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The smallest file that the daemon takes for an executable: one page with a code segment and a
 * unique build ID.
 */
#pragma once

#include "attack.h"

#include <elf.h>
#include <stddef.h>

struct tiny_elf {
	Elf64_Ehdr header;
	Elf64_Phdr code, note;
	Elf64_Nhdr id_header;
	char id_owner[4];
	uint64_t id[2];
	char rest[PAGE - sizeof(Elf64_Ehdr) - 2 * sizeof(Elf64_Phdr) - sizeof(Elf64_Nhdr) - 20];
};

static inline struct tiny_elf tiny_elf(uint64_t id)
{
	return (struct tiny_elf){
		.header =
			{
				.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
	                                    ELFDATA2LSB, EV_CURRENT},
				.e_type = ET_DYN,
#ifdef __aarch64__
				.e_machine = EM_AARCH64,
#else
				.e_machine = EM_X86_64,
#endif
				.e_version = EV_CURRENT,
				.e_phoff = offsetof(struct tiny_elf, code),
				.e_ehsize = sizeof(Elf64_Ehdr),
				.e_phentsize = sizeof(Elf64_Phdr),
				.e_phnum = 2,
			},
		.code =
			{
				.p_type = PT_LOAD,
				.p_flags = PF_R | PF_X,
				.p_filesz = PAGE,
				.p_memsz = PAGE,
				.p_align = PAGE,
			},
		.note =
			{
				.p_type = PT_NOTE,
				.p_flags = PF_R,
				.p_offset = offsetof(struct tiny_elf, id_header),
				.p_filesz = sizeof(Elf64_Nhdr) + 20,
				.p_memsz = sizeof(Elf64_Nhdr) + 20,
				.p_align = 4,
			},
		.id_header = {.n_namesz = 4, .n_descsz = 16, .n_type = NT_GNU_BUILD_ID},
		.id_owner = "GNU",
		.id = {id, (uint64_t)getpid()},
	};
}

/* Writes such a file in a folder. Returns a descriptor for reading; none is open for writing. */
static inline int make_tiny_elf(int folder, const char *name, uint64_t id)
{
	const struct tiny_elf elf = tiny_elf(id);
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	need(fd >= 0 && write(fd, &elf, sizeof(elf)) == sizeof(elf) && close(fd) == 0, name);
	fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	need(fd >= 0, name);
	return fd;
}
