/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * python_build_read() in a reader process, of descriptor 0 of the question; the answer is the
 * struct's bytes.
 */
#pragma once

#include "bpf/python.h"
#include "object/object.h"
#include "reader/reader.h"
#include "reader/serve.h"

/* The daemon's end, on the reader's thread. As python_build_read(); other errors are
 * reader_ask()'s.
 */
int python_ask(struct reader *reader, const struct object *object,
               struct python_process *ret_process);
/* The reader process's: READER_PYTHON. */
int python_answer(struct reading *reading, struct buf *out);
/* Whether bytes can be an answer. 0 or -EBADMSG. */
int python_check(const uint8_t *bytes, size_t len);
