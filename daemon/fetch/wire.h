/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The question to the downloading process, and its answer. The question comes with two descriptors:
 * the file to write to and the folder to work in (room.h).
 */
#pragma once

#include "base/bounds.h"

#include <stdint.h>

enum { FETCH_INTO, FETCH_ROOM }; /* indices of the descriptors */

/* The servers' URLs follow, separated by blanks and with a NUL at the end. Without a build ID the
 * question is only whether the process can download: -ELIBACC without the library. */
struct fetch_question {
	uint64_t max_bytes;
	uint32_t max_seconds;
	char build_id[2 * MAX_BUILD_ID_BYTES + 1]; /* lower-case hex */
	char unused[3];
};
_Static_assert(sizeof(struct fetch_question) == 144, "no padding");

struct fetch_reply {
	/* 0: the file is complete; -ENOENT: no server has it; or another negative errno. */
	int32_t error;
	uint32_t unused;
	uint64_t received; /* bytes, also when the download broke off */
	uint64_t written;  /* bytes written to the file */
};
_Static_assert(sizeof(struct fetch_reply) == 24, "no padding");
