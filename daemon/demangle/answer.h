/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The end of names/readable.h that is in the reader process.
 */
#pragma once

#include "reader/serve.h"

/* READER_DEMANGLE: names/mangled.h's question and answer. */
int demangle_answer(struct reading *reading, struct buf *out);
