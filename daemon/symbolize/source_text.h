/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct source_text - the lines of one source file, as far as everybody may read it. Which files
 * may be asked for at all is the symbolizer's to say. Any thread may own one.
 */
#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MAX_SOURCE_BYTES = 16 << 20,      /* read of a file; the rest of it is not there */
	MAX_SOURCE_LINE_BYTES = 64 << 10, /* of a line; the rest of it is left out */
};

/* In whose root folder a file is: in ours, where `pid` is 0. */
struct source_root {
	uint32_t pid;
	/* The process itself named the file, in a sample of a program that began at that time by
	 * CLOCK_BOOTTIME (0: not known). One that began later is another one, with another root. */
	bool is_told;
	uint64_t began_boot_ns;
	/* A user of this host who is to see it: what everybody on the host could read at that very
	 * path, or what is in the root folder of a process of his own, which he may look into. 0:
	 * one who may see what is in any root folder. */
	uint32_t viewer;
};

struct source_text;

/* Reads the file of that absolute path, for two seconds at most. Errors are those of
 * path_open(), read's, -ENOMEM, -ESRCH where the process that named the file has ended,
 * whoever has its number now, and -EPERM where only others may see it. */
int source_text_read(const struct source_root *root, const char *file,
                     struct source_text **ret_text);

/* What may be taken for files: time and bytes of all of them together, memory for each. */
struct source_budget {
	uint64_t ns;
	size_t bytes, memory;
};

/* The same within that, which is less by what was taken, and -EFBIG where its lines would take too
 * much memory. What is over the bytes is not there. */
int source_text_read_within(const struct source_root *root, const char *file,
                            struct source_budget *budget, struct source_text **ret_text);
void source_text_free(struct source_text *text);
DEFINE_CLEANUP(struct source_text *, source_text_free)

size_t source_text_memory(const struct source_text *text);
uint32_t source_text_count(const struct source_text *text);
/* A line by its number, from 1, without its end; NULL when there is none. It may hold any bytes but
 * NUL, in the place of which stands a '?'. */
const char *source_text_line(const struct source_text *text, uint32_t number);
