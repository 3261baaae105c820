/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kernel's symbols, from the text of /proc/kallsyms.
 */
#pragma once

#include "elf/symtab.h"

/* Parses lines "address type name [module]"; only code symbols are kept. -EACCES when all addresses
 * are zero, which is how kptr_restrict hides them; -EBADMSG when no line can be parsed. */
int kallsyms_parse(const char *text, size_t len, struct symtab **ret_symtab);
/* The same from /proc/kallsyms. */
int kallsyms_read(struct symtab **ret_symtab);
