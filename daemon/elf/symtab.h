/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct symtab - which function covers an address: symbols are sorted once and looked up by binary
 * search. Where several symbols cover an address, the global one wins, then the one with the longer
 * range, then the first by name, so the answer never depends on the file's order. A symbol of size
 * 0 (assembly) extends to the next symbol, and yields to a symbol with a size. A symbol with a size
 * never covers addresses behind its end. Immutable once sealed.
 */
#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symtab;

struct symbol {
	uint64_t address, size; /* size: for a symbol without a size, up to where it extends */
	const char *name;       /* as in the symbol table */
	const char *module;     /* kernel module, or NULL */
	bool sized;             /* false: the end is a guess */
};

struct symtab *symtab_new(void);
void symtab_free(struct symtab *symtab);
DEFINE_CLEANUP(struct symtab *, symtab_free)

/* Copies the names. `module` may be NULL. -E2BIG over MAX_SYMBOLS or over MAX_SECTION_BYTES of
 * names, -ENOMEM. */
int symtab_add(struct symtab *symtab, const char *name, uint64_t address, uint64_t size,
               bool global, const char *module);
int symtab_seal(struct symtab *symtab); /* 0 or -ENOMEM */
/* If no symbol extends over others, sealing drops the symbols that win nowhere. */
size_t symtab_count(const struct symtab *symtab);
/* False: no symbol covers the address. The strings live as long as the table. */
bool symtab_find(const struct symtab *symtab, uint64_t address, struct symbol *ret_symbol);
size_t symtab_memory(const struct symtab *symtab); /* in bytes, approximately */
