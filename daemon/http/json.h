/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * JSON answers.
 */
#pragma once

#include "http/request.h"

#include <jansson.h>

/* A string of any bytes; what is not UTF-8 becomes '?', since JSON cannot hold it. */
json_t *json_text(const char *bytes, size_t len);
/* Answers with `value`, which it takes over; NULL means that memory was out. */
void json_answer(struct request *request, json_t *value);
