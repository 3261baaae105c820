/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as /proc/kallsyms; the resulting table is searched at both ends and in between.
 */
#include "symbolize/kernel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(symtab_freep) struct symtab *symtab = NULL;
	struct symbol symbol;

	if (kallsyms_parse((const char *)data, size, &symtab) < 0)
		return 0;
	for (unsigned int bit = 0; bit < 64; bit++) {
		uint64_t address = UINT64_MAX >> bit;
		if (symtab_find(symtab, address, &symbol) &&
		    (address < symbol.address || address - symbol.address >= symbol.size))
			abort();
	}
	return 0;
}
