/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The reader process's end of unwind/table_ask.h.
 */
#pragma once

#include "reader/serve.h"

/* Answers READER_TABLE and READER_TABLE_FOLLOWED. */
int table_answer(struct reading *reading, struct buf *out);
