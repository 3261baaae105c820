/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * gpu_sites_find() in a reader process, on descriptor 0 of the question. The question's bytes are
 * one uint32_t, the libraries to look for. The answer is the bytes of a struct gpu_file.
 */
#pragma once

#include "cuda/sites.h"
#include "reader/reader.h"
#include "reader/serve.h"

/* The daemon's end, on the reader's thread. `number` identifies the file to the reader. -ENOENT
 * when the file is none of `libraries`; otherwise the errors of reader_ask(). */
int gpu_ask(struct reader *reader, int fd, uint64_t number, uint32_t libraries,
            struct gpu_file *ret_file);
/* The reader process's end: READER_GPU. */
int gpu_answer(struct reading *reading, struct buf *out);
