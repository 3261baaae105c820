/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The reader process: reads files that anybody on the host may have made, where that can do no
 * harm. It is this program, run as `profd reader NAME MAX_BYTES NICENESS` with a socket to the
 * daemon, as a user of its own, without capabilities, unable to gain any; what it may hold in
 * memory is limited by the kernel, and so is what it may ask the kernel for. It gets descriptors
 * and questions about them and answers with bytes (reader/wire.h). It ends when the daemon closes
 * the socket.
 */
#pragma once

#include "base/buf.h"
#include "reader/wire.h"

#include <stdbool.h>

/* READER_WAY(NAME, word): which it is, by the word after the program's name; by those from DEVICES
 * on, foreign libraries are loaded, so they may do more, see filter.h. */
#define READER_WAYS(READER_WAY)                                          \
	READER_WAY(FILES, "reader")                                      \
	READER_WAY(NAMES, "namer")     /* also files that those name */  \
	READER_WAY(DEVICES, "devices") /* libraries that open devices */ \
	READER_WAY(SERVERS, "fetcher") /* ... that talk to servers and write what they say */

enum reader_way {
#define READER_WAY(name, word) WAY_##name,
	READER_WAYS(READER_WAY)
#undef READER_WAY
		WAY_COUNT
};

enum { READER_SOCKET = 3 }; /* the descriptor it finds its end of the socket at */

/* A question as it arrived: only that its length was bounded is known of it. */
struct reading {
	uint32_t job;
	int fds[READER_FDS]; /* -1: none; closed after the answer, but for those that are TAKE_FD()n
	                      */
	uint8_t *bytes;      /* aligned as malloc()'s */
	size_t len;
	uint64_t max_bytes; /* of memory, that the process may hold */
	void **kept;        /* the jobs' own, NULL at first; who sets it gives it a meaning */
	/* Who sets it gives back of that what the next question may not need: it is called, once,
	 * when none has come for a while. */
	void (*forget)(void *kept);
};

/* Appends the answer's bytes. 0, -EPROTO when it is no question, which ends the process, or a
 * negative errno for the daemon. */
typedef int reader_answer_fn(struct reading *reading, struct buf *out);

static inline bool reader_loads_libraries(enum reader_way way)
{
	return way >= WAY_DEVICES;
}

const char *reader_command(enum reader_way way);
/* Whether the command line is that of such a process. */
bool reader_wanted(int argc, char **argv);
/* main() of the process: answers until the other end is closed. Its exit status; EX_USAGE at once
 * when there is no socket. */
int reader_main(int argc, char **argv, reader_answer_fn *fn);
