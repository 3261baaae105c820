/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kernel's own symbols from the text of /proc/kallsyms.
 */
#pragma once

#include "object/symtab.h"

/* Parses "address type name [module]" lines; code symbols only. -EACCES when every address is zero,
 * which is how kptr_restrict hides them; -EBADMSG when no line can be read. */
int kallsyms_parse(const char *text, size_t len, struct symtab **ret_symtab);
/* Reads /proc/kallsyms. */
int kallsyms_read(struct symtab **ret_symtab);
