/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct jit_lines - the source lines of a piece of generated code, by address. Pure; one thread at
 * a time.
 */
#pragma once

#include "base/buf.h"

struct jit_lines {
	uint64_t code;    /* where the code begins */
	struct buf rows;  /* of addresses that ascend; private */
	struct buf files; /* their names, each with its NUL */
	uint32_t file;    /* where the latest begins in `files` */
};

/* NULL when out of memory. */
struct jit_lines *jit_lines_new(uint64_t code);
void jit_lines_free(struct jit_lines *lines); /* accepts NULL */
DEFINE_CLEANUP(struct jit_lines *, jit_lines_free)
/* The code from an address on is of that line. A row below the one before is left out. `file` is
 * NULL where it is the same as before. 0 or -ENOMEM. */
int jit_lines_add(struct jit_lines *lines, uint64_t address, uint32_t line, const char *file);
/* The line of an address; 0: not known. `*ret_file` is set if there is a row for it. */
uint32_t jit_lines_find(const struct jit_lines *lines, uint64_t address, const char **ret_file);
uint32_t jit_lines_first(const struct jit_lines *lines); /* the line of the first row; 0: none */
size_t jit_lines_bytes(const struct jit_lines *lines);   /* memory; 0 for NULL */
