/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Mangled names on their way to the reader process that makes them readable, and what they say on
 * the way back, as bytes that neither end believes: each name ends with a NUL. The answer has one
 * for each in the question, empty where there is nothing to say, as far as there is room: at least
 * for the first. Pure; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MANGLED_MAX_NAMES = 1024,         /* of one question */
	MANGLED_MAX_QUESTION = 256 << 10, /* bytes; any name that mangled_start() takes fits */
	MANGLED_MAX_ANSWER = 16 << 20,    /* bytes: a name of a few hundred may say 64 KiB */
};

/* Whether it is mangled, by its beginning. */
bool mangled_begins(const char *name);
/* The name from its "_Z" or "_R" on: some object formats put an underscore or two in front. NULL:
 * by its beginning it is not mangled, or it was cut. */
const char *mangled_start(const char *name);
/* How many names these bytes are. -EBADMSG: none, too many, too long, or the last one has no end.
 */
int mangled_count(const uint8_t *bytes, size_t len, size_t *ret_count);
