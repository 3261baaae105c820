/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The names are sorted and not hashed, so that hostile input cannot make look-ups slow.
 */
#include "names/functions.h"

#include "names/mangled.h"

#include <stdlib.h>

static size_t count_of(const struct functions *functions)
{
	return functions->names.len / sizeof(const char *);
}

int functions_note(struct functions *functions, const char *name)
{
	if (mangled_begins(name))
		buf_add(&functions->names, &name, sizeof(name));
	return buf_error(&functions->names);
}

static int by_address(const void *left, const void *right)
{
	const char *const *a = left, *const *b = right;

	return (*a > *b) - (*a < *b);
}

static void leave_out_repeated(struct functions *functions)
{
	const char **names = (const char **)(void *)functions->names.data;
	size_t count = count_of(functions), last = 0;

	if (!count)
		return;
	qsort(names, count, sizeof(*names), by_address);
	for (size_t i = 1; i < count; i++)
		if (names[i] != names[last])
			names[++last] = names[i];
	functions->names.len = (last + 1) * sizeof(*names);
}

int functions_ask(struct functions *functions, struct readable_asker *asker)
{
	leave_out_repeated(functions);
	return readable_ask(asker, (const char *const *)(void *)functions->names.data,
	                    count_of(functions), &functions->readable);
}

const char *functions_readable(const struct functions *functions, const char *name)
{
	const char *const *names = (const char *const *)(void *)functions->names.data,
			  *const * found;

	if (!names)
		return NULL;
	found = bsearch(&name, names, count_of(functions), sizeof(name), by_address);
	return found ? readable_text(&functions->readable, (size_t)(found - names)) : NULL;
}

void functions_release(struct functions *functions)
{
	buf_release(&functions->names);
	readable_release(&functions->readable);
}
