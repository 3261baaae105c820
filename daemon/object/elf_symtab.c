/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A file with too many stubs keeps its symbols: those are what matters.
 */
#include "object/elf_symtab.h"

#include <errno.h>

static int add_symbol(const char *name, uint64_t address, uint64_t size, bool global, void *ctx)
{
	return symtab_add(ctx, name, address, size, global, NULL);
}

int elf_add_symbols(const struct elf *elf, struct symtab *into)
{
	int err = elf_each_symbol(elf, add_symbol, into);

	if (err < 0)
		return err;
	err = elf_each_stub(elf, add_symbol, into);
	return err == -E2BIG ? 0 : err;
}
