/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct dwarf_lines - source lines and inlined calls of one file from its DWARF, by libdw, which
 * is used only behind this header. libdw is not safe with hostile files, so it runs in the reader
 * process (names/answer.h), where a crash or an endless loop loses only the names of that file. One
 * thread. Format: DWARF 2 to 5; .debug_* may be compressed, split into .dwo files, or share a
 * supplement made by dwz.
 */
#pragma once

#include "base/cleanup.h"
#include "names/source_frame.h"

struct dwarf_lines;

/* Opens the DWARF of `fd`; `supplement_fd` is the file named in .gnu_debugaltlink, or -1. The
 * caller keeps both descriptors; they must outlive the result. Addresses are those of the file's
 * own segments. -ENODATA when the file has no DWARF, -EBADMSG when it is broken, -ENOMEM. */
int dwarf_lines_open(int fd, int supplement_fd, struct dwarf_lines **ret_lines);
void dwarf_lines_free(struct dwarf_lines *lines);
DEFINE_CLEANUP(struct dwarf_lines *, dwarf_lines_free)

/* Calls fn for the frames of each of `count` ascending addresses that the DWARF covers, index by
 * index; addresses of the same unit share the work. Frames are the inlined functions, innermost
 * first, then the function that contains the code. Code that only a line table covers (assembly)
 * gives one frame without a function. Broken parts count as not covered. 0, -ENOMEM, or what fn
 * returned. */
int dwarf_lines_find(struct dwarf_lines *lines, const uint64_t *addresses, size_t count,
                     source_frame_fn *fn, void *ctx);
/* Lets libdw keep about this many bytes between two units; by default 128 MiB. libdw can free only
 * all of them at once. */
void dwarf_lines_keep(struct dwarf_lines *lines, size_t bytes);
/* Frees the data that is kept for opened units. */
void dwarf_lines_forget(struct dwarf_lines *lines);
/* About how many bytes are held. */
size_t dwarf_lines_memory(const struct dwarf_lines *lines);
