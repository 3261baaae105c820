/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What named_file.c reads and named_search.c looks through.
 */
#pragma once

#include "names/dwarf_lines.h"
#include "names/named_file.h"
#include "object/gopclntab.h"
#include "object/symtab.h"

struct named_file {
	int fds[FILE_COUNT];
	struct elf *elf, *debug; /* debug: NULL when there is none that can be read */
	/* Read when first asked for. NULL afterwards: there is nothing of the kind. */
	struct gopclntab *go;
	struct symtab *symbols;
	size_t dwarf_keep; /* 0: as it likes */
	struct dwarf_lines *dwarf;
	bool names_read, lines_read;
};

/* As named_file_find(), of what was read. */
int named_search(struct named_file *file, const uint64_t *addresses, size_t count, bool lines,
                 source_frame_fn *fn, void *ctx);
