/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct dwarf_lines - source lines and inlined calls of one file from its DWARF, by libdw, which
 * is used behind this file only. libdw is no match for hostile files: it runs in the reader process
 * (names/service.h), where a crash or an endless loop costs that file's names and nothing else.
 * One thread. Format: DWARF 2 to 5; .debug_* may be compressed, split into .dwo files, or share a
 * supplement made by dwz.
 */
#pragma once

#include "base/cleanup.h"
#include "names/source_frame.h"

struct dwarf_lines;

/* Opens what DWARF `fd` has; `supplement_fd` is what .gnu_debugaltlink names, or -1. Both stay the
 * caller's and must outlive the result. Addresses are those of the file's own segments. -ENODATA
 * when there is no DWARF in it, -EBADMSG when it is broken, -ENOMEM. */
int dwarf_lines_open(int fd, int supplement_fd, struct dwarf_lines **ret_lines);
void dwarf_lines_free(struct dwarf_lines *lines);
DEFINE_CLEANUP(struct dwarf_lines *, dwarf_lines_free)

/* Calls fn for the frames of each of `count` ascending addresses that the DWARF covers, index by
 * index; work is shared by addresses of the same unit. Frames: the inlined functions, innermost
 * first, then the one whose code it is. Code that only a line table covers (assembly) gives one
 * frame with no function. 0, -ENOMEM, or what fn returned: broken parts count as not covered. */
int dwarf_lines_find(struct dwarf_lines *lines, const uint64_t *addresses, size_t count,
                     source_frame_fn *fn, void *ctx);
/* Lets libdw keep about this many bytes between two units, 128 MiB if nothing is said: it gives
 * nothing back until it forgets all. */
void dwarf_lines_keep(struct dwarf_lines *lines, size_t bytes);
/* Gives back what is kept of units that were looked into. */
void dwarf_lines_forget(struct dwarf_lines *lines);
/* Bytes held by what was read so far, about. */
size_t dwarf_lines_memory(const struct dwarf_lines *lines);
