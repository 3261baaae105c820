/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A file's symbols as a table: those it has, and those that its stubs for calls into other files
 * (the PLT) should have: puts@plt. Any thread.
 */
#pragma once

#include "object/elf.h"
#include "object/symtab.h"

/* Adds them to a table that is not sealed. 0, -ENOMEM, -E2BIG, or -ENOEXEC when the file is no ELF
 * file any more. */
int elf_add_symbols(const struct elf *elf, struct symtab *into);
