/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as a Go program, as its pclntab, and as the data in which a linker has hidden one. For
 * any bytes strings end, and there are never more frames than there is room for.
 */
#include "base/bounds.h"
#include "base/cleanup.h"
#include "elf/gopclntab.h"
#include "tests/fuzz/wrapped.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void find_all(const struct elf *elf)
{
	_cleanup_(gopclntab_freep) struct gopclntab *table = NULL;
	struct go_frame frames[MAX_GO_FRAMES];

	if (gopclntab_open(elf, &table) < 0)
		return;
	for (uint64_t address = WRAPPED_TEXT; address < WRAPPED_TEXT + 0x100; address += 0x11) {
		size_t count = gopclntab_find(table, address, frames);

		if (count > MAX_GO_FRAMES)
			abort();
		for (size_t i = 0; i < count; i++) {
			if (strlen(frames[i].function) >= MAX_SYMBOL_NAME_BYTES ||
			    strlen(frames[i].file) >= MAX_SYMBOL_NAME_BYTES)
				abort();
		}
	}
	gopclntab_find(table, UINT64_MAX, frames);
}

static void as_section(const char *name, const uint8_t *data, size_t size)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	size_t len = 0;
	_cleanup_free_ struct wrapped *file = wrapped_new(name, data, size, &len);

	if (file && elf_open_bytes(file, len, &elf) == 0)
		find_all(elf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;

	if (elf_open_bytes(data, size, &elf) == 0)
		find_all(elf);
	as_section(".gopclntab", data, size);
	as_section(".data.rel.ro", data, size);
	return 0;
}
