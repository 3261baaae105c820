/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct symtab - which function covers an address: symbols sorted once, looked up by binary
 * search. Where several cover it, the global one, then the longer range, then the first by name
 * wins, so the answer never depends on the file's order. A symbol of size 0 (assembly) reaches to
 * the next symbol, and yields to one that has a size; one with a size never covers what lies behind
 * it. Immutable once sealed.
 */
#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symtab;

struct symbol {
	uint64_t address, size; /* of a sizeless one: to where it reaches */
	const char *name;       /* as the linker has it */
	const char *module;     /* kernel module, or NULL */
	bool sized;             /* false: where it ends is a guess */
};

struct symtab *symtab_new(void);
void symtab_free(struct symtab *symtab);
DEFINE_CLEANUP(struct symtab *, symtab_free)

/* Copies the names. -E2BIG over MAX_SYMBOLS or MAX_SECTION_BYTES of names, -ENOMEM. `module` may be
 * NULL. */
int symtab_add(struct symtab *symtab, const char *name, uint64_t address, uint64_t size,
               bool global, const char *module);
int symtab_seal(struct symtab *symtab); /* 0 or -ENOMEM */
/* Once it is sealed without those that win nowhere, if no symbol reaches over others. */
size_t symtab_count(const struct symtab *symtab);
/* false when no symbol covers the address; the strings live as long as the table. */
bool symtab_find(const struct symtab *symtab, uint64_t address, struct symbol *ret_symbol);
size_t symtab_memory(const struct symtab *symtab); /* bytes, about */
