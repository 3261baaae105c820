/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The list of /processes as a table for people.
 */
#pragma once

#include "base/buf.h"

#include <jansson.h>

void processes_text_head(struct buf *out);
/* `process` is the row's object in the JSON answer. */
void processes_text_row(const json_t *process, struct buf *out);
