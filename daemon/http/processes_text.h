/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What /processes lists as a table for people.
 */
#pragma once

#include "base/buf.h"

#include <jansson.h>

/* `list` is the JSON answer. */
void processes_text(const json_t *list, struct buf *out);
