/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * python_build_read() in a reader process, for descriptor 0 of the question. The answer is the
 * bytes of the struct.
 */
#pragma once

#include "bpf/python.h"
#include "object/object.h"
#include "reader/reader.h"
#include "reader/serve.h"

/* Asks from the daemon, on the reader's thread. Like python_build_read(); other errors are those of
 * reader_ask(). */
int python_ask(struct reader *reader, const struct object *object,
               struct python_process *ret_process);
/* Answers READER_PYTHON in the reader process. */
int python_answer(struct reading *reading, struct buf *out);
/* Whether the bytes are a valid answer. 0 or -EBADMSG. */
int python_check(const uint8_t *bytes, size_t len);
