/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct readable_asker - asks a reader process what mangled names say to people. It is asked about
 * many at once. When it fails over them, it is asked about each alone: then a name over which it
 * dies, or has no answer in time, stays as it is, and is not asked about again while it is among
 * the last READABLE_MAX_FAILED of them.
 *
 * One call goes on for so many deaths, so much time and so many bytes of answers. So whose names
 * are made to be failed over may cost others theirs, in the same call: the rest of its names stay
 * as they are, like those that are too long to ask about, and all of them where there is no
 * process; these are counted. Of a name that would say too much the process says nothing, which
 * looks like a name that only begins like a mangled one.
 *
 * One thread at a time, that of the reader. A call blocks it: questions are asked for 25 s, and the
 * last one may take 20 s more, and for the process to start.
 */
#pragma once

#include "base/buf.h"
#include "reader/reader.h"

enum { READABLE_MAX_FAILED = 256 };

struct readable_asker {
	struct reader *reader; /* the caller's */
	uint64_t hurry_ns;     /* 0: none; else all is wanted by then or is asked for again */
	size_t max_bytes;      /* of what is read at once; the rest of the names stay as they are */
	/* Read by any thread: names over which the process failed, and others that were left. */
	uint64_t failed_names, left_names;

	/* readable.c's: their hashes, a ring, 0: none */
	uint64_t failed[READABLE_MAX_FAILED];
};

/* What names say. */
struct readable {
	struct buf text;
	size_t *starts; /* in it, by index; 0: none */
	size_t count;
};

/* Asks for `count` names, any text. 0, also when the process cannot be asked about some or all, or
 * -ENOMEM; in a hurry -ETIMEDOUT when not all could be asked about in time. *ret_readable is to be
 * released in each case. */
int readable_ask(struct readable_asker *asker, const char *const *names, size_t count,
                 struct readable *ret_readable);
void readable_release(struct readable *readable);
/* Lives as long as that; NULL: the name is as people write it, or nobody knows better. */
const char *readable_text(const struct readable *readable, size_t index);
