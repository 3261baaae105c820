/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * usdt_file_read() in a reader process, of descriptor 0 of the question; the answer is the struct's
 * bytes.
 */
#pragma once

#include "collect/usdt_files.h"
#include "reader/reader.h"
#include "reader/serve.h"

/* The daemon's end, on the reader's thread; `number` is the file's for the reader. -ENOENT when it
 * has no probe that is understood; else reader_ask()'s errors. */
int usdt_ask(struct reader *reader, int fd, uint64_t number, struct usdt_file *ret_file);
/* The reader process's: READER_USDT. */
int usdt_answer(struct reading *reading, struct buf *out);
/* Whether bytes can be an answer. 0 or -EBADMSG. */
int usdt_check(const uint8_t *bytes, size_t len);
