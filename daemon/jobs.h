/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Finds the function that answers a question to a reader process.
 */
#pragma once

#include "reader/serve.h"

/* For reader_main(). */
int jobs_answer(struct reading *reading, struct buf *out);
