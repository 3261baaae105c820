/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The end of unwind/table_ask.h that is in the reader process.
 */
#pragma once

#include "reader/serve.h"

/* READER_TABLE and READER_TABLE_FOLLOWED. */
int table_answer(struct reading *reading, struct buf *out);
