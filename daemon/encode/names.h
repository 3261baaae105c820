/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names on their way out. Strings of a profile come from file names, process names and symbol
 * tables and may hold any bytes; what is sent is harmless text only (base/clean.h). Private to
 * encode/.
 */
#pragma once

#include "base/buf.h"
#include "profile/profile.h"

/* The name of a location that nobody has named. */
#define UNNAMED "[unknown]"

/* Appends the string with U+FFFD for each byte that is not part of valid UTF-8, and a blank for
 * each control character. */
void add_utf8(struct buf *out, const char *string);
/* The same where `separator` means something: it becomes ':'. */
void add_word(struct buf *out, const char *string, char separator);
/* What a name ends in that was cut. */
#define CUT_MARK " [...]"
/* As add_utf8(), but of one that would be longer than `max` bytes its beginning, and CUT_MARK. */
void add_cut_word(struct buf *out, const char *string, size_t max);
/* Name of a function; UNNAMED for 0 and for one whose name is empty. */
const char *function_name(const struct profile *profile, uint32_t function);
