/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Demangles name by name. Names that would make the answer too long are left out and may be asked
 * for again.
 */
#include "demangle/answer.h"

#include "base/cleanup.h"
#include "demangle/demangle.h"
#include "names/mangled.h"
#include "reader/wire.h"

#include <errno.h>
#include <string.h>

_Static_assert((int)MANGLED_MAX_QUESTION <= (int)READER_MAX_QUESTION, "it can be asked");
_Static_assert((int)MANGLED_MAX_ANSWER <= (int)READER_MAX_ANSWER, "it can be sent");

/* Half of the memory is for files that were read before, and the answer is held twice while it
 * grows. */
static size_t longest_answer(const struct reading *reading)
{
	return reading->max_bytes / 16 < MANGLED_MAX_ANSWER ? reading->max_bytes / 16
	                                                    : MANGLED_MAX_ANSWER;
}

int demangle_answer(struct reading *reading, struct buf *out)
{
	const char *name = (const char *)reading->bytes, *end = name + reading->len;
	size_t max = longest_answer(reading), count;

	if (mangled_count(reading->bytes, reading->len, &count) < 0)
		return -EPROTO;
	for (; name < end; name += strlen(name) + 1) {
		_cleanup_free_ char *readable = demangle(name);
		size_t len = readable && strcmp(readable, name) != 0 ? strlen(readable) : 0;

		if (out->len && out->len + len + 1 > max)
			break;
		buf_add(out, readable ?: "", len);
		buf_add_char(out, '\0');
	}
	return buf_error(out);
}
