/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * python_build_read() and python_asyncio_read() in a reader process, for descriptor 0 of the
 * question. The answer is the bytes of struct python_contents.
 */
#pragma once

#include "bpf/python.h"
#include "cpython/python_tasks.h"
#include "object/object.h"
#include "reader/reader.h"
#include "reader/serve.h"

/* What a file has of CPython: at least one of the two. */
struct python_contents {
	struct python_process process; /* version 0: there is none */
	struct python_asyncio asyncio; /* task_node 0: there is none that describes itself */
};

/* Asks from the daemon, on the reader's thread. -ENOENT when the file has nothing of CPython;
 * otherwise like python_build_read() or, if the file has no CPython, python_asyncio_read(); other
 * errors are those of reader_ask(). */
int python_ask(struct reader *reader, const struct object *object,
               struct python_contents *ret_contents);
/* Answers READER_PYTHON in the reader process. */
int python_answer(struct reading *reading, struct buf *out);
/* Whether the bytes are a valid answer. 0 or -EBADMSG. */
int python_check(const uint8_t *bytes, size_t len);
