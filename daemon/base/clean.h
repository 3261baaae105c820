/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Text of others on its way to people: names of processes, files and functions may be any bytes,
 * and would move a terminal's cursor, begin a line of a log, or be no text at all. Harmless is
 * valid UTF-8 without control characters, those of the second set (U+0080 to U+009F), which
 * terminals obey as well, included. Every output goes by this. All pure; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Length of the longest harmless prefix; `len` when all of it is. */
size_t clean_prefix(const char *bytes, size_t len);
/* How many bytes what is not harmless takes, at the start of the bytes, of which there is one. */
size_t clean_skip(const char *bytes, size_t len);
/* It is a control character, and not a byte that is no UTF-8. */
bool clean_is_control(const char *bytes, size_t len);
/* Puts question marks over what is not harmless. */
void clean_text(char *text);
