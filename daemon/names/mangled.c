/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "names/mangled.h"

#include "base/bounds.h"

#include <errno.h>
#include <string.h>

/* The name without the underscores that some object formats prepend; NULL: its beginning is not
 * that of a mangled name. */
static const char *start_of(const char *name)
{
	static const char *const prefixes[] = {"_Z", "__Z", "___Z", "_R"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t len = strlen(prefixes[i]);

		if (!strncmp(name, prefixes[i], len))
			return name + len - strlen("_Z");
	}
	return NULL;
}

bool mangled_begins(const char *name)
{
	return start_of(name) != NULL;
}

const char *mangled_start(const char *name)
{
	const char *start = start_of(name);

	if (!start || strnlen(name, MAX_SYMBOL_NAME_BYTES) == MAX_SYMBOL_NAME_BYTES)
		return NULL;
	return start;
}

int mangled_count(const uint8_t *bytes, size_t len, size_t *ret_count)
{
	const char *at = (const char *)bytes, *end = at + len;
	size_t count = 0;

	if (!len || end[-1])
		return -EBADMSG;
	for (; at < end; at += strlen(at) + 1) {
		if (strlen(at) > MAX_SYMBOL_NAME_BYTES || ++count > MANGLED_MAX_NAMES)
			return -EBADMSG;
	}
	*ret_count = count;
	return 0;
}
