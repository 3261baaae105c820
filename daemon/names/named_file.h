/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct named_file - all that one file, and the separate files of its debug information, say about
 * an address. In order: Go's table, DWARF, symbols (the file's own, .gnu_debugdata's, the debug
 * file's), and where no name is known the bounds that .eh_frame gives. Symbols are read
 * for each question; the rest is kept for the next. Lives in the reader process, one thread.
 */
#pragma once

#include "base/cleanup.h"
#include "names/source_frame.h"

#include <stdbool.h>

/* Descriptors of a file, its separate debug file, and the supplement of what of them has DWARF; -1:
 * there is none. */
enum { FILE_ITSELF, FILE_DEBUG, FILE_SUPPLEMENT, FILE_COUNT };

struct named_file;

/* Takes over the descriptors, on failure too. -ENOEXEC when the first is no ELF file, -ENOMEM. */
int named_file_open(const int fds[FILE_COUNT], struct named_file **ret_file);
void named_file_free(struct named_file *file);
DEFINE_CLEANUP(struct named_file *, named_file_free)

/* Calls fn for each frame of each of `count` ascending addresses, index by index, innermost first;
 * not at all for an address that nothing covers. Without `lines` no DWARF is looked at. 0, -ENOMEM,
 * or what fn returned. */
int named_file_find(struct named_file *file, const uint64_t *addresses, size_t count, bool lines,
                    source_frame_fn *fn, void *ctx);
/* How much its DWARF may keep, see dwarf_lines_keep(). */
void named_file_keep(struct named_file *file, size_t bytes);
/* Gives back what can be read again: Go's table, and what libdw keeps. */
void named_file_forget(struct named_file *file);
size_t named_file_memory(const struct named_file *file); /* about */
