/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which function answers what a reader process is asked.
 */
#pragma once

#include "reader/serve.h"

/* For reader_main(). */
int jobs_answer(struct reading *reading, struct buf *out);
