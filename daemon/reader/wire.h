/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What goes through the socket between the daemon and a reader process, in both directions. Both
 * are the same program on the same machine, so numbers go as they are in memory; but neither
 * believes the other: lengths are bounded and checked, and what does not parse ends the connection.
 */
#pragma once

#include <stdint.h>

enum {
	READER_FDS = 3,                       /* of one question: a file and what belongs to it */
	READER_MAX_QUESTION = 1 << 20,        /* bytes; 16,000 addresses are 128 KiB */
	READER_MAX_ANSWER = (64 << 20) + 256, /* bytes: the largest unwind table, and what it is */
};

/* A request: this header, then `len` bytes that are the job's. With the first byte of the header
 * come the descriptors whose bit is set in `fds`, in the order of their numbers, as SCM_RIGHTS. */
struct reader_request {
	uint32_t job; /* an enum reader_job */
	uint32_t fds;
	uint64_t len;
};

/* An answer: this header, then `len` bytes that are the job's; 0 bytes with an error. The first one
 * comes unasked and without bytes: it says that the process is confined, or why it could not be. */
struct reader_answer {
	int32_t error; /* 0 or negative errno */
	uint32_t unused;
	uint64_t len;
};
