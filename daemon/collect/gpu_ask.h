/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * gpu_sites_find() in a reader process, of descriptor 0 of the question; the question's bytes are a
 * word, which libraries are looked for, the answer is the struct's bytes.
 */
#pragma once

#include "gpu/sites.h"
#include "reader/reader.h"
#include "reader/serve.h"

/* The daemon's end, on the reader's thread; `number` is the file's for the reader. -ENOENT when it
 * is none of `libraries`; else reader_ask()'s errors. */
int gpu_ask(struct reader *reader, int fd, uint64_t number, uint32_t libraries,
            struct gpu_file *ret_file);
/* The reader process's: READER_GPU. */
int gpu_answer(struct reading *reading, struct buf *out);
