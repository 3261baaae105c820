/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * JSON answers.
 */
#pragma once

#include "http/request.h"

#include <jansson.h>

/* A string of any bytes; what is not harmless (base/clean.h) becomes '?', but tabs and newlines. */
json_t *json_text(const char *bytes, size_t len);
/* Appends `value` as text, by jansson's flags; NULL means that memory was out. 0, -ENOMEM or the
 * buffer's own error. */
int json_add(const json_t *value, size_t flags, struct buf *out);
/* The same with a line end, on as many lines as people like; gives `value` up. */
int json_write(json_t *value, struct buf *out);
/* The same without blanks, for long lists of numbers that no person reads. */
int json_write_compact(json_t *value, struct buf *out);
/* Answers with `value`, which it takes over; NULL means that memory was out. */
void json_answer(struct request *request, json_t *value);
