/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Makes untrusted text safe to show. Names of processes, files and functions may be any bytes: they
 * could move a terminal's cursor, begin a new line in a log, or be no text at all. Harmless text is
 * valid UTF-8 without control characters, including those of the second set (U+0080 to U+009F),
 * which terminals obey as well. Every output passes through here. All functions are pure; any
 * thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Length of the longest harmless prefix; `len` when all of it is. */
size_t clean_prefix(const char *bytes, size_t len);
/* Length of the harmful character or byte at the start of the bytes; there is at least one byte. */
size_t clean_skip(const char *bytes, size_t len);
/* True for a control character, false for a byte that is not valid UTF-8. */
bool clean_is_control(const char *bytes, size_t len);
/* Replaces each harmful byte by a question mark. */
void clean_text(char *text);
