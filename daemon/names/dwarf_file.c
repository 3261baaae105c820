/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * libdw does not distinguish a file without DWARF from a broken one, and does not report how much
 * memory it takes. Both are determined from the section headers.
 */
#include "names/dwarf_file.h"
#include "base/cleanup.h"
#include "elf/elf.h"

#include <errno.h>
#include <gelf.h>
#include <string.h>

static bool is_info(const char *name)
{
	return !strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info");
}

/* Whether there are DIEs; *ret_memory is the size of the sections that libdw will decompress when
 * it opens the file. */
static bool look_at_sections(Elf *elf, size_t *ret_memory)
{
	size_t strings, memory = 0;
	bool has_info = false;
	GElf_Shdr header;
	GElf_Chdr compressed;

	if (elf_getshdrstrndx(elf, &strings) < 0)
		return false;
	for (Elf_Scn *section = elf_nextscn(elf, NULL); section;
	     section = elf_nextscn(elf, section)) {
		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		const char *name = elf_strptr(elf, strings, header.sh_name);
		if (!name)
			continue;
		has_info |= is_info(name);
		if ((header.sh_flags & SHF_COMPRESSED) && gelf_getchdr(section, &compressed))
			memory += compressed.ch_size;
	}
	*ret_memory = memory;
	return has_info;
}

/* Whether string sections end with a NUL. In one that does not, libdw would read beyond the end of
 * the section. Called once libdw has opened the file, and so has decompressed the sections. */
static bool strings_end(Elf *elf)
{
	size_t names;
	GElf_Shdr header;

	if (elf_getshdrstrndx(elf, &names) < 0)
		return false;
	for (Elf_Scn *section = elf_nextscn(elf, NULL); section;
	     section = elf_nextscn(elf, section)) {
		const char *name = gelf_getshdr(section, &header)
		                           ? elf_strptr(elf, names, header.sh_name)
		                           : NULL;
		if (!name || header.sh_type == SHT_NOBITS ||
		    (strcmp(name, ".debug_str") != 0 && strcmp(name, ".debug_line_str") != 0))
			continue;
		const Elf_Data *data = elf_getdata(section, NULL);
		if (data && data->d_size && ((const char *)data->d_buf)[data->d_size - 1])
			return false;
	}
	return true;
}

static int begin(int fd, struct dwarf_file *file)
{
	errno = 0;
	file->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF)
		return elf_failure(-EBADMSG);
	/* A file that cannot be mapped is read. */
	errno = 0;
	if (!look_at_sections(file->elf, &file->memory))
		return elf_failure(-ENODATA);
	errno = 0;
	file->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	if (!file->dwarf)
		return elf_failure(-EBADMSG);
	return strings_end(file->elf) ? 0 : -EBADMSG;
}

int dwarf_file_open(int fd, struct dwarf_file *ret_file)
{
	struct dwarf_file file = {0};

	elf_version(EV_CURRENT);
	int err = begin(fd, &file);
	if (err < 0) {
		dwarf_file_close(&file);
		return err;
	}
	*ret_file = file;
	return 0;
}

void dwarf_file_forget(struct dwarf_file *file)
{
	dwarf_end(file->dwarf);
	file->dwarf = NULL;
}

int dwarf_file_reopen(struct dwarf_file *file)
{
	file->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	return file->dwarf ? 0 : -ENOMEM;
}

void dwarf_file_close(struct dwarf_file *file)
{
	if (file->dwarf)
		dwarf_end(file->dwarf);
	if (file->elf)
		elf_end(file->elf);
	*file = (struct dwarf_file){0};
}
