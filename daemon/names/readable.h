/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct readable_asker - asks a reader process for the readable forms of mangled names. A question
 * has many names. When the process fails over a question, each name is asked for alone. A name over
 * which the process then dies or exceeds its deadline stays as it is, and is not asked for again
 * while it is among the last READABLE_MAX_FAILED such names.
 *
 * A call is bounded by a number of deaths of the process, a time, and a number of bytes of answers.
 * So hostile names can keep other names in the same call from being made readable: the remaining
 * names stay as they are. So do names that are too long, and all names when there is no process.
 * These are counted. For a name whose readable form would be too long, the process gives no answer,
 * as for a name that only begins like a mangled one.
 *
 * For one thread at a time, that of the reader. A call blocks it: questions are asked for 25 s, and
 * the last one may take 20 s more, and the time for the process to start.
 */
#pragma once

#include "base/buf.h"
#include "reader/reader.h"

enum { READABLE_MAX_FAILED = 256 };

struct readable_asker {
	struct reader *reader; /* owned by the caller */
	uint64_t hurry_ns; /* time limit of a call, after which the caller asks again; 0: none */
	size_t max_bytes;  /* limit of all answers of a call; other names stay as they are */
	/* May be read by any thread: the number of names over which the process failed, and of
	 * other names that stayed as they are. */
	uint64_t failed_names, left_names;

	/* Private to readable.c: a ring of the hashes of failed names; 0: a free place. */
	uint64_t failed[READABLE_MAX_FAILED];
};

/* The readable forms of names. */
struct readable {
	struct buf text;
	size_t *starts; /* offsets in `text`, by index of the name; 0: none */
	size_t count;
};

/* Asks for the readable forms of `count` names, which may be any text. 0, also when the process
 * gives no answer for some or all; -ENOMEM; with hurry_ns -ETIMEDOUT when not all could be asked in
 * time. *ret_readable must be released in each case. */
int readable_ask(struct readable_asker *asker, const char *const *names, size_t count,
                 struct readable *ret_readable);
void readable_release(struct readable *readable);
/* Lives as long as `readable`; NULL: the name is readable, or no other form is known. */
const char *readable_text(const struct readable *readable, size_t index);
