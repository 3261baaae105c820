/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The encoding of mangled names that are sent to the reader process, and of the readable names in
 * its answer. Neither side trusts the bytes. Each name ends with a NUL. The answer has a name for
 * each name of the question, empty when there is no readable form; names for which the answer has
 * no room are omitted from its end, but never the first. Pure; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MANGLED_MAX_NAMES = 1024,         /* of one question */
	MANGLED_MAX_QUESTION = 256 << 10, /* bytes; any name that mangled_start() accepts fits */
	MANGLED_MAX_ANSWER = 16 << 20,    /* bytes; a few hundred bytes may stand for 64 KiB */
};

/* Whether the name begins like a mangled name. */
bool mangled_begins(const char *name);
/* The name from its "_Z" or "_R" on; some object formats prepend one or two underscores. NULL: it
 * does not begin like a mangled name, or it was truncated. */
const char *mangled_start(const char *name);
/* The number of names in these bytes. -EBADMSG: none, too many, too long, or the last one is not
 * terminated. */
int mangled_count(const uint8_t *bytes, size_t len, size_t *ret_count);
