/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The protocol of the socket between the daemon and a reader process. Both are the same program on
 * the same machine, so numbers are sent as they are in memory. But neither trusts the other:
 * lengths are bounded and checked, and a malformed message ends the connection.
 */
#pragma once

#include <stdint.h>

enum {
	READER_FDS = 3,                       /* of one question: a file and related files */
	READER_MAX_QUESTION = 1 << 20,        /* bytes; 16,000 addresses are 128 KiB */
	READER_MAX_ANSWER = (64 << 20) + 256, /* bytes: the largest unwind table and its header */
};

/* A question: this header, then `len` bytes whose format the job defines. The descriptors whose
 * bits are set in `fds` are sent with the first byte of the header, in the order of their bits, as
 * SCM_RIGHTS. */
struct reader_request {
	uint32_t job; /* an enum reader_job */
	uint32_t fds;
	uint64_t len;
};

/* An answer: this header, then `len` bytes whose format the job defines; 0 bytes with an error. The
 * first answer is sent without a question and without bytes: it says that the process is confined,
 * or why it could not be. */
struct reader_answer {
	int32_t error; /* 0 or negative errno */
	uint32_t unused;
	uint64_t len;
};
