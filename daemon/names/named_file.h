/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct named_file - the names that one file and its separate debug files have for an address. The
 * sources, in order: Go's table, DWARF, symbols (of the file itself, of .gnu_debugdata, of the
 * debug file), and, for code without a name, the bounds in .eh_frame. Symbols are read for each
 * question; the other sources are kept for the next question. Used in the reader process, by one
 * thread.
 */
#pragma once

#include "base/cleanup.h"
#include "names/source_frame.h"

#include <stdbool.h>

/* Descriptors of a file, of its separate debug file, and of the supplement to the DWARF in these;
 * -1: there is none. */
enum { FILE_ITSELF, FILE_DEBUG, FILE_SUPPLEMENT, FILE_COUNT };

struct named_file;

/* Takes over the descriptors, also on failure. -ENOEXEC when the first is no ELF file, -ENOMEM. */
int named_file_open(const int fds[FILE_COUNT], struct named_file **ret_file);
void named_file_free(struct named_file *file);
DEFINE_CLEANUP(struct named_file *, named_file_free)

/* Calls fn for each frame of each of `count` ascending addresses, index by index, innermost first;
 * not at all for an address that no source covers. Without `lines` DWARF is not used. 0, -ENOMEM,
 * or what fn returned. */
int named_file_find(struct named_file *file, const uint64_t *addresses, size_t count, bool lines,
                    source_frame_fn *fn, void *ctx);
/* Sets how much its DWARF may keep; see dwarf_lines_keep(). */
void named_file_keep(struct named_file *file, size_t bytes);
/* Frees the data that can be read again: Go's table, and what libdw keeps. */
void named_file_forget(struct named_file *file);
size_t named_file_memory(const struct named_file *file); /* approximate number of bytes */
