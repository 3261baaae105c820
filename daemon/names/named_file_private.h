/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The sources that named_file.c reads and named_search.c searches.
 */
#pragma once

#include "elf/gopclntab.h"
#include "elf/symtab.h"
#include "names/dwarf_lines.h"
#include "names/named_file.h"

struct named_file {
	int fds[FILE_COUNT];
	struct elf *elf, *debug; /* debug: NULL when there is none that is readable */
	/* Read when first needed. NULL afterwards: the file does not have it. */
	struct gopclntab *go;
	struct elf *inner; /* of .gnu_debugdata */
	uint8_t *inner_bytes;
	size_t inner_len;
	size_t dwarf_keep; /* for dwarf_lines_keep(); 0: the default */
	struct dwarf_lines *dwarf;
	bool names_read, lines_read;
};

/* Opens the DWARF, once. Broken DWARF is not an error: 0 or -ENOMEM. */
int named_file_read_lines(struct named_file *file);

/* A question about a file whose sources of names were read. */
struct named_search {
	struct named_file *file;
	const struct symtab *symbols; /* those that are relevant to the addresses */
	const uint64_t *addresses;    /* ascending */
	size_t count;
	bool lines;
};

/* As named_file_find(). */
int named_search(const struct named_search *asked, source_frame_fn *fn, void *ctx);
