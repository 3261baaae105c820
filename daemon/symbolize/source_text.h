/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct source_text - the lines of one source file, if everybody may read it. The symbolizer
 * decides which files may be requested at all. Any thread may own one.
 */
#pragma once

#include "base/aside.h"
#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MAX_SOURCE_BYTES = 16 << 20,      /* read from a file; the rest is not there */
	MAX_SOURCE_LINE_BYTES = 64 << 10, /* of a line; the rest is left out */
};

/* The root folder in which a file is: that of process `pid`; 0: the daemon's. */
struct source_root {
	uint32_t pid;
	/* The process itself named the file, in a sample of a program that began at that time by
	 * CLOCK_BOOTTIME (0: not known). A program that began later is another one, with another
	 * root folder. */
	bool is_told;
	uint64_t began_boot_ns;
	/* The user of this host to whom the file is shown. Such a user sees files that everybody on
	 * the host can read at the same path, and files in root folders of processes that it may
	 * inspect itself. 0: a viewer that may see files in any root folder. */
	uint32_t viewer;
};

struct source_text;

/* Reads the file at that absolute path, on a thread aside because its file system may hang, within
 * two seconds. Errors: those of path_open() and read(), -ENOMEM, -ESRCH when the process that named
 * the file has ended, even if its pid is in use again, and -EPERM when the viewer may not see the
 * file; -ETIMEDOUT also while others of the user of the process hang. */
int source_text_read(struct aside *aside, const struct source_root *root, const char *file,
                     struct source_text **ret_text);

/* Limits on reading files: time and bytes for all of them together, memory for each. */
struct source_budget {
	uint64_t ns;
	size_t bytes, memory;
};

/* The same within a budget, from which it subtracts what it used; also -EFBIG when the lines would
 * take too much memory. The part of the file that exceeds the bytes is not there. */
int source_text_read_within(struct aside *aside, const struct source_root *root, const char *file,
                            struct source_budget *budget, struct source_text **ret_text);
void source_text_free(struct source_text *text);
DEFINE_CLEANUP(struct source_text *, source_text_free)

size_t source_text_memory(const struct source_text *text);
uint32_t source_text_count(const struct source_text *text);
/* A line by its number, from 1, without its newline; NULL when there is none. It may contain any
 * bytes; NUL is replaced by '?'. */
const char *source_text_line(const struct source_text *text, uint32_t number);
