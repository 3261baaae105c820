/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as an ELF file: opened, mapped through its segments and searched for symbols, sections
 * and relocations, from memory and from a descriptor, because libelf reads the two by different
 * code.
 */
#include "base/bounds.h"
#include "object/elf_symtab.h"
#include "object/object.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int count_address(uint64_t address, void *ctx)
{
	*(uint64_t *)ctx += address;
	return 0;
}

/* Read again it is the same; and a sanitizer sees a byte that is not there. */
static void read_sections(const struct elf *elf)
{
	static const char *const names[] = {".gnu_debuglink", ".eh_frame", ".debug_frame", ".text"};
	struct elf_section first, second;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (elf_read_section(elf, names[i], MAX_SECTION_BYTES, &first))
			continue;
		if (elf_read_section(elf, names[i], MAX_SECTION_BYTES, &second) ||
		    first.len != second.len || memcmp(first.bytes, second.bytes, first.len) != 0)
			abort();
		free(first.bytes);
		free(second.bytes);
	}
}

static void read_all(const struct elf *elf)
{
	uint64_t addresses = 0, at = elf_entry(elf);
	uint8_t bytes[64];

	read_sections(elf);
	elf_each_relative(elf, count_address, &addresses);
	for (int tries = 0; tries < 3; tries++, at += 0x1000)
		elf_read_address(elf, at, bytes, sizeof(bytes));
}

static void look_around(struct object *object)
{
	_cleanup_(symtab_freep) struct symtab *symtab = symtab_new();
	struct symbol symbol;
	uint64_t address;

	if (!symtab || elf_add_symbols(object->elf, symtab) < 0 || symtab_seal(symtab) < 0) {
		object_unref(object);
		return;
	}
	for (uint64_t offset = 0; offset < 0x4000; offset += 0x333) {
		if (object_address(object, offset, &address))
			symtab_find(symtab, address, &symbol);
	}
	symtab_find(symtab, UINT64_MAX, &symbol);
	read_all(object->elf);
	object_unref(object);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct object *object;

	if (object_open_bytes(data, size, "fuzz", &object) == 0)
		look_around(object);

	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0)
		return 0;
	if (write(fd, data, size) != (ssize_t)size) {
		close(fd);
		return 0;
	}
	if (object_open_fd(fd, "fuzz", &object) == 0)
		look_around(object);
	return 0;
}
