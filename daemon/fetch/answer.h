/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Downloading, in a process of its own: READER_FETCH, see wire.h. It is asked once; then the
 * process is of no more use, for it has shut itself in a folder.
 */
#pragma once

#include "reader/serve.h"

int fetch_answer(struct reading *reading, struct buf *out);
