/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The reader process's end of names/readable.h.
 */
#pragma once

#include "reader/serve.h"

/* Answers READER_DEMANGLE; question and answer are those of names/mangled.h. */
int demangle_answer(struct reading *reading, struct buf *out);
