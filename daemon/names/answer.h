/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The counterpart of names/client.h in the reader process.
 */
#pragma once

#include "reader/serve.h"

/* Answers READER_NAMES and READER_NAMES_WITHOUT_LINES. Files stay open between questions. */
int names_answer(struct reading *reading, struct buf *out);
