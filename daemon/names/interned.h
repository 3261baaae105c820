/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Strings of one look-up, each kept once: what they came from may be closed meanwhile.
 */
#pragma once

#include <stddef.h>

struct interned_text;

struct interned {
	struct interned_text *texts;
	size_t bytes;
	const char *last_from, *last; /* what was asked for last: it often is again */
};

/* *ret_copy lives until interned_release(); cut at MAX_SYMBOL_NAME_BYTES. NULL gives NULL. 0, or
 * -ENOMEM, also when there are too many. */
int interned_add(struct interned *interned, const char *text, const char **ret_copy);
/* To be told before strings are freed that were given to it. */
void interned_forget_last(struct interned *interned);
void interned_release(struct interned *interned);
