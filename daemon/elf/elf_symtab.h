/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The symbols of files as a table: the functions and variables that the files have, and names such
 * as puts@plt for their stubs for calls into other files (the PLT). Any thread.
 */
#pragma once

#include "elf/elf.h"
#include "elf/symtab.h"

/* Builds a table of the symbols that matter to `count` ascending addresses: for these addresses
 * symtab_find() returns the same as it would in a table of all symbols. The files are walked twice
 * and their symbols are not kept, because a library has megabytes of symbols of which a profile
 * needs a few. Entries of `files` that are NULL are left out. A file that cannot be read any more
 * has no symbols. 0 or -ENOMEM. */
int elf_symtab_at(const struct elf *const *files, size_t file_count, const uint64_t *addresses,
                  size_t count, struct symtab **ret_symtab);
