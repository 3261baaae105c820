/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gopclntab - functions, lines and inlined calls of code made by Go's compiler, from the
 * table that Go's runtime needs and that strip does not remove. Bytes are untrusted. One thread.
 * Format: Go's src/internal/abi, src/runtime/symtab.go and src/debug/gosym/pclntab.go, of Go 1.16,
 * 1.18, and 1.20 and later.
 */
#pragma once

#include "base/cleanup.h"
#include "elf/elf.h"

#include <stdbool.h>

struct gopclntab;

/* One function at an address. The strings live as long as the table. */
struct go_frame {
	const char *function, *file; /* never NULL */
	uint32_t line, start_line;   /* 0: unknown */
	uint64_t function_address;   /* 0 for an inlined function */
};

enum { MAX_GO_FRAMES = 64 };

/* -ENOENT when the file has no such table, -EBADMSG when the table is broken or of an unknown
 * version, -E2BIG when it is larger than MAX_SECTION_BYTES, -ENOMEM. The elf may be freed
 * afterwards. */
int gopclntab_open(const struct elf *elf, struct gopclntab **ret_table);
void gopclntab_free(struct gopclntab *table);
DEFINE_CLEANUP(struct gopclntab *, gopclntab_free)

/* Finds the functions at an address, innermost first. Returns how many; 0 when the table does not
 * cover the address. */
size_t gopclntab_find(const struct gopclntab *table, uint64_t address,
                      struct go_frame ret_frames[MAX_GO_FRAMES]);
size_t gopclntab_memory(const struct gopclntab *table); /* in bytes, approximately */
