/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the process that downloads is asked, and what it answers. With the question come, as
 * descriptors, the file to write into and the folder to work in (room.h).
 */
#pragma once

#include "base/bounds.h"

#include <stdint.h>

enum { FETCH_INTO, FETCH_ROOM }; /* places of the descriptors */

/* Before the servers' URLs, separated by blanks and with a NUL behind them. Without a build ID it
 * is asked only whether it can do it: -ELIBACC where the library is not here. */
struct fetch_question {
	uint64_t max_bytes;
	uint32_t max_seconds;
	char build_id[2 * MAX_BUILD_ID_BYTES + 1]; /* lower-case hex */
	char unused[3];
};
_Static_assert(sizeof(struct fetch_question) == 144, "no padding");

struct fetch_reply {
	int32_t error; /* 0: it is there whole; -ENOENT: no server has it, or another negative errno
	                */
	uint32_t unused;
	uint64_t received; /* bytes, also of what broke off */
	uint64_t written;  /* into the file */
};
_Static_assert(sizeof(struct fetch_reply) == 24, "no padding");
