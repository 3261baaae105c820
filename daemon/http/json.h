/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * JSON answers.
 */
#pragma once

#include "http/request.h"

#include <jansson.h>

/* A string made of any bytes; harmful characters (base/clean.h) become '?', except tabs and
 * newlines. */
json_t *json_text(const char *bytes, size_t len);
/* Appends `value` as text with jansson's flags; NULL means out of memory. 0, -ENOMEM or the
 * buffer's own error. */
int json_add(const json_t *value, size_t flags, struct buf *out);
/* The same, indented for people and with a newline at the end; releases `value`. */
int json_write(json_t *value, struct buf *out);
/* The same without white space, for long lists of numbers that no person reads. */
int json_write_compact(json_t *value, struct buf *out);
/* Answers with `value`, which it releases; NULL means out of memory. */
void json_answer(struct request *request, json_t *value);
