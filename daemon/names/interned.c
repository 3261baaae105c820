/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A hash table of copies. In a hostile file, every suffix of a long string can be a string, so the
 * sum of all lengths is bounded as well.
 */
#include "names/interned.h"
#include "base/bounds.h"
#include "base/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_INTERNED_BYTES = 256 << 20 }; /* all symbols of a browser have 100 MB */

struct interned_text {
	UT_hash_handle hh;
	char text[];
};

static int add_copy(struct interned *interned, const char *text, size_t len, const char **ret_copy)
{
	size_t bytes = sizeof(struct interned_text) + len + 1;

	if (bytes > MAX_INTERNED_BYTES - interned->bytes)
		return -ENOMEM;
	struct interned_text *copy = malloc(bytes);
	if (!copy)
		return -ENOMEM;
	memcpy(copy->text, text, len);
	copy->text[len] = '\0';
	HASH_ADD_KEYPTR(hh, interned->texts, copy->text, len, copy);
	if (!copy->hh.tbl) {
		free(copy);
		return -ENOMEM;
	}
	interned->bytes += bytes;
	*ret_copy = copy->text;
	return 0;
}

int interned_add(struct interned *interned, const char *text, const char **ret_copy)
{
	struct interned_text *known = NULL;

	if (!text || text == interned->last_from) {
		*ret_copy = text ? interned->last : NULL;
		return 0;
	}
	size_t len = strnlen(text, MAX_SYMBOL_NAME_BYTES);
	HASH_FIND(hh, interned->texts, text, len, known);
	if (known) {
		*ret_copy = known->text;
	} else {
		int err = add_copy(interned, text, len, ret_copy);
		if (err < 0)
			return err;
	}
	interned->last_from = text;
	interned->last = *ret_copy;
	return 0;
}

void interned_forget_last(struct interned *interned)
{
	interned->last_from = NULL;
}

void interned_release(struct interned *interned)
{
	struct interned_text *text, *next;

	HASH_ITER (hh, interned->texts, text, next) {
		HASH_DEL(interned->texts, text);
		free(text);
	}
	*interned = (struct interned){0};
}
