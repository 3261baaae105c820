/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Converts Python's strings to UTF-8 that can be displayed. The characters of a string are stored
 * in 1, 2 or 4 bytes each, as the widest of them needs. Pure; any thread.
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>

/* How the characters of a string are stored, as in struct python_code. */
enum python_text_kind { TEXT_ASCII = 1, TEXT_UCS_2, TEXT_LATIN_1, TEXT_UCS_4 };

/* The bytes of one character; 0 when `kind` is invalid. */
size_t python_text_width(unsigned int kind);
/* Appends a string. Invalid characters, lone surrogates among them, become U+FFFD. Characters that
 * would break a line or a terminal become spaces. "..." follows a truncated string (`cut`). */
void python_text_add(struct buf *buf, unsigned int kind, const uint8_t *bytes, size_t len,
                     bool cut);
