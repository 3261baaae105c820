/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Turns jansson's values into answers.
 */
#include "http/json.h"

#include "base/clean.h"

#include <errno.h>
#include <string.h>

json_t *json_text(const char *bytes, size_t len)
{
	_cleanup_free_ char *copy = strndup(bytes, len);
	size_t at = 0;

	if (!copy)
		return NULL;
	len = strlen(copy);
	while ((at += clean_prefix(copy + at, len - at)) < len) {
		size_t skip = clean_skip(copy + at, len - at);

		/* Lines of source have tabs; JSON escapes tabs and line ends. */
		if (!strchr("\t\n", copy[at]))
			memset(copy + at, '?', skip);
		at += skip;
	}
	return json_stringn(copy, len);
}

static int add_bytes(const char *bytes, size_t len, void *ctx)
{
	buf_add(ctx, bytes, len);
	return 0;
}

int json_add(const json_t *value, size_t flags, struct buf *out)
{
	int err = value ? json_dump_callback(value, add_bytes, out, flags | JSON_REAL_PRECISION(12))
	                : -1;

	if (buf_error(out))
		return buf_error(out);
	return err ? -ENOMEM : 0;
}

static int write_with(json_t *value, size_t flags, struct buf *out)
{
	int err = json_add(value, flags, out);

	json_decref(value);
	buf_add_char(out, '\n');
	return err ? err : buf_error(out);
}

int json_write(json_t *value, struct buf *out)
{
	return write_with(value, JSON_INDENT(2), out);
}

int json_write_compact(json_t *value, struct buf *out)
{
	return write_with(value, JSON_COMPACT, out);
}

void json_answer(struct request *request, json_t *value)
{
	struct buf body = BUF_INIT;
	int err = json_write(value, &body);

	if (err) {
		buf_release(&body);
		request_fail(request, err);
		return;
	}
	request_answer(request, "application/json", &body);
}
