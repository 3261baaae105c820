/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Symbols of files as a table: those they have, and those that their stubs for calls into other
 * files (the PLT) should have: puts@plt. Any thread.
 */
#pragma once

#include "object/elf.h"
#include "object/symtab.h"

/* Those that matter to `count` ascending addresses: for these symtab_find() finds in the table what
 * it would find in one of all symbols. The files, of which those that are NULL are left out, are
 * gone through twice instead of being kept: a library's symbols are megabytes, of which a profile
 * needs a few. One that cannot be read any more has none. 0 or -ENOMEM. */
int elf_symtab_at(const struct elf *const *files, size_t file_count, const uint64_t *addresses,
                  size_t count, struct symtab **ret_symtab);
