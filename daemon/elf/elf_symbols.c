/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Symbols of functions and variables of an ELF file. Nothing outside the file is read.
 */
#include "base/bounds.h"
#include "elf/elf.h"
#include "elf/elf_private.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* Reads a section's header. True: the section's bytes can be read. */
static bool usable(const struct elf *elf, Elf_Scn *scn, GElf_Shdr *ret_header)
{
	return scn && gelf_getshdr(scn, ret_header) && ret_header->sh_type != SHT_NOBITS &&
	       !(ret_header->sh_flags & SHF_COMPRESSED) && ret_header->sh_size &&
	       ret_header->sh_size <= MAX_SECTION_BYTES &&
	       elf_in_file(elf, ret_header->sh_offset, ret_header->sh_size);
}

static const uint32_t functions = 1U << STT_FUNC | 1U << STT_GNU_IFUNC;
static const uint32_t variables = 1U << STT_OBJECT;

struct walk {
	uint32_t types; /* a bit for each STT_ type that is wanted */
	elf_symbol_fn *fn;
	void *ctx;
};

static int each_in_section(const struct elf *elf, Elf *handle, Elf_Scn *scn,
                           const struct walk *walk)
{
	GElf_Shdr header, names_header;
	GElf_Sym symbol;

	if (!usable(elf, scn, &header) ||
	    header.sh_entsize != gelf_fsize(handle, ELF_T_SYM, 1, EV_CURRENT))
		return 0;
	Elf_Scn *names_scn = elf_getscn(handle, header.sh_link);
	if (!usable(elf, names_scn, &names_header) || names_header.sh_type != SHT_STRTAB)
		return 0;
	Elf_Data *symbols = elf_getdata(scn, NULL);
	Elf_Data *names = elf_rawdata(names_scn, NULL);
	if (!symbols || !names || !symbols->d_buf || !names->d_buf)
		return 0;
	/* A name that begins before the last NUL ends inside the table. */
	const char *first = names->d_buf;
	const char *last = memrchr(first, '\0', names->d_size);
	size_t name_bytes = last ? (size_t)(last - first) : 0;

	size_t count = symbols->d_size / header.sh_entsize;
	for (size_t i = 0; i < count && gelf_getsym(symbols, (int)i, &symbol); i++) {
		if (!(walk->types & 1U << GELF_ST_TYPE(symbol.st_info)) ||
		    symbol.st_shndx == SHN_UNDEF || symbol.st_name >= name_bytes ||
		    !first[symbol.st_name])
			continue;
		int result = walk->fn(first + symbol.st_name, symbol.st_value, symbol.st_size,
		                      GELF_ST_BIND(symbol.st_info) != STB_LOCAL, walk->ctx);
		if (result)
			return result;
	}
	return 0;
}

/*
 * Finds the next symbol table after a section, or after the beginning; NULL when there is none. A
 * file has at most one of each type (System V gABI, "Sections"); only the first of each type is
 * used, so that a file with thousands of them costs no extra work. `seen` marks the types already
 * found.
 */
static Elf_Scn *next_table(Elf *handle, Elf_Scn *scn, bool seen[SHT_NUM])
{
	GElf_Shdr header;

	while ((scn = elf_nextscn(handle, scn))) {
		if (!gelf_getshdr(scn, &header) ||
		    (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) ||
		    seen[header.sh_type])
			continue;
		seen[header.sh_type] = true;
		break;
	}
	return scn;
}

static int each_symbol(const struct elf *elf, const struct walk *walk)
{
	_cleanup_(elf_endp) Elf *handle = elf_handle(elf);
	bool seen[SHT_NUM] = {0};
	int result = 0;

	if (!elf->has_sections)
		return 0;
	if (!handle)
		return elf_failure(-ENOEXEC);
	for (Elf_Scn *scn = NULL; !result && (scn = next_table(handle, scn, seen));)
		result = each_in_section(elf, handle, scn, walk);
	return result;
}

static bool has_memory(uint64_t bytes)
{
	void *area = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return area != MAP_FAILED && munmap(area, bytes) == 0;
}

bool elf_symbols_fit(const struct elf *elf)
{
	_cleanup_(elf_endp) Elf *handle = elf->has_sections ? elf_handle(elf) : NULL;
	bool seen[SHT_NUM] = {0};
	GElf_Shdr header, names;

	if (!handle)
		return !elf->has_sections;
	for (Elf_Scn *scn = NULL; (scn = next_table(handle, scn, seen));) {
		if (usable(elf, scn, &header) &&
		    usable(elf, elf_getscn(handle, header.sh_link), &names) &&
		    !has_memory(header.sh_size + names.sh_size))
			return false;
	}
	return true;
}

int elf_each_symbol(const struct elf *elf, elf_symbol_fn *fn, void *ctx)
{
	return each_symbol(elf, &(struct walk){functions, fn, ctx});
}

int elf_each_variable(const struct elf *elf, elf_symbol_fn *fn, void *ctx)
{
	return each_symbol(elf, &(struct walk){variables, fn, ctx});
}
