/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Cleans names for output. Strings of a profile come from file names, process names and symbol
 * tables and may hold any bytes; only harmless text is sent (base/clean.h). Private to encode/.
 */
#pragma once

#include "base/buf.h"
#include "profile/profile.h"

/* Stands for the name of a location that has none. */
#define UNNAMED "[unknown]"

/* Appends the string with U+FFFD for each byte that is not part of valid UTF-8, and a blank for
 * each control character. */
void add_utf8(struct buf *out, const char *string);
/* The same for formats in which `separator` has a meaning: it becomes ':'. */
void add_word(struct buf *out, const char *string, char separator);
/* The end of a shortened name. */
#define CUT_MARK " [...]"
/* Like add_utf8(), but shortens a name of more than `max` bytes to its beginning and CUT_MARK. */
void add_cut_word(struct buf *out, const char *string, size_t max);
/* The name of a function; UNNAMED for 0 and for an empty name. */
const char *function_name(const struct profile *profile, uint32_t function);
