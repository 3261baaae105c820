/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as an ELF file: opened, mapped through its segments and searched for symbols, sections
 * and relocations, from memory and from a descriptor, because libelf reads the two by different
 * code.
 */
#include "base/bounds.h"
#include "elf/elf_symtab.h"
#include "object/object.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PLACES = 20 }; /* that are looked up */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int count_address(uint64_t address, void *ctx)
{
	*(uint64_t *)ctx += address;
	return 0;
}

/* A second read gives the same bytes, and a sanitizer detects missing ones. */
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

static int by_address(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static void look_around(struct object *object)
{
	const struct elf *const files[] = {object->elf};
	_cleanup_(symtab_freep) struct symtab *symtab = NULL;
	uint64_t addresses[PLACES + 1];
	struct symbol symbol;

	for (uint64_t i = 0; i < PLACES; i++)
		addresses[i] = object->text.address + i * 0x333;
	qsort(addresses, PLACES, sizeof(*addresses), by_address); /* sorted, because they may wrap
	                                                           * around */
	addresses[PLACES] = UINT64_MAX;
	if (elf_symtab_at(files, 1, addresses, PLACES + 1, &symtab) == 0) {
		for (size_t i = 0; i <= PLACES; i++)
			symtab_find(symtab, addresses[i], &symbol);
	}
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
