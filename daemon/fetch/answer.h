/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Downloads one file, in a process of its own: READER_FETCH, see wire.h. The process answers one
 * question; after that it is useless, because it has confined itself to a folder.
 */
#pragma once

#include "reader/serve.h"

int fetch_answer(struct reading *reading, struct buf *out);
