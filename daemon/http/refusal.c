/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Refusals quote what the client sent, so their text is made harmless here, in one place: one line
 * of valid UTF-8 without control characters.
 */
#include "http/refusal.h"

#include "base/clean.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int refuse(struct refusal *refusal, unsigned int status, const char *format, ...)
{
	va_list args;

	refusal->status = status;
	va_start(args, format);
	vsnprintf(refusal->text, sizeof(refusal->text), format, args);
	va_end(args);
	clean_text(refusal->text);
	return -EINVAL;
}
