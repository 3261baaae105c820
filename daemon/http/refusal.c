/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Refusals quote what the client sent, so their text is made harmless here, once: one line, valid
 * UTF-8, no control characters.
 */
#include "http/refusal.h"

#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int refuse(struct refusal *refusal, unsigned int status, const char *format, ...)
{
	size_t len, valid = 0;
	va_list args;

	refusal->status = status;
	va_start(args, format);
	vsnprintf(refusal->text, sizeof(refusal->text), format, args);
	va_end(args);

	len = strlen(refusal->text);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)refusal->text[i];

		if (c < ' ' || c == 0x7f)
			refusal->text[i] = '?';
	}
	while ((valid += text_utf8_prefix(refusal->text + valid, len - valid)) < len)
		refusal->text[valid++] = '?';
	return -EINVAL;
}
