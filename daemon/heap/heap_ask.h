/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * heap_survey_read() and heap_allocator_read() in a reader process, on descriptor 0 of the
 * question. The answer is the bytes of the struct.
 */
#pragma once

#include "allocators/allocators.h"
#include "reader/reader.h"
#include "reader/serve.h"

/* A file of `bytes` bytes; `number` identifies it to the reader. */
struct heap_question {
	int fd;
	uint64_t number, bytes;
};

/* The daemon's end, on the reader's thread. Errors are those of reader_ask(). */
int heap_ask_survey(struct reader *reader, const struct heap_question *question,
                    struct heap_survey *ret_survey);
int heap_ask_sites(struct reader *reader, const struct heap_question *question,
                   struct heap_allocator *ret_allocator);
/* The reader process's end: READER_HEAP_SURVEY, READER_HEAP_SITES. */
int heap_survey_answer(struct reading *reading, struct buf *out);
int heap_sites_answer(struct reading *reading, struct buf *out);
