/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * usdt_file_read() in a reader process, on descriptor 0 of the question. The answer is the bytes of
 * the struct.
 */
#pragma once

#include "probes/usdt_file.h"
#include "reader/reader.h"
#include "reader/serve.h"

/* The daemon's end, on the reader's thread. `number` identifies the file to the reader. -ENOENT
 * when it has no probe that is understood; otherwise the errors of reader_ask(). */
int usdt_ask(struct reader *reader, int fd, uint64_t number, struct usdt_file *ret_file);
/* The reader process's end: READER_USDT. */
int usdt_answer(struct reading *reading, struct buf *out);
/* Whether bytes can be an answer. 0 or -EBADMSG. */
int usdt_check(const uint8_t *bytes, size_t len);
