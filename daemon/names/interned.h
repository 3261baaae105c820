/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Copies of the strings of one look-up, each kept once, because the file that they come from may be
 * closed before they are used.
 */
#pragma once

#include <stddef.h>

struct interned_text;

struct interned {
	struct interned_text *texts;
	size_t bytes;
	const char *last_from, *last; /* the last string and its copy: often needed again */
};

/* *ret_copy lives until interned_release() and is truncated to MAX_SYMBOL_NAME_BYTES. NULL gives
 * NULL. 0 or -ENOMEM, also when the limit of all strings is reached. */
int interned_add(struct interned *interned, const char *text, const char **ret_copy);
/* Must be called before strings that were passed to interned_add() are freed. */
void interned_forget_last(struct interned *interned);
void interned_release(struct interned *interned);
