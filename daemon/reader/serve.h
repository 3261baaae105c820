/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The reader process: reads files that any user of the host may have made, where they can do no
 * harm. It is this program, run as `profd reader NAME MAX_BYTES NICENESS` with a socket to the
 * daemon, as a user of its own, without capabilities and unable to gain any. The kernel limits its
 * memory and its system calls. It receives descriptors and questions about them, and answers with
 * bytes (reader/wire.h). It ends when the daemon closes the socket.
 */
#pragma once

#include "base/buf.h"
#include "reader/wire.h"

#include <stdbool.h>

/* READER_WAY(NAME, word): the kind of process, by the first argument of the program. The kinds from
 * DEVICES on load foreign libraries, so they may do more; see filter.h. */
#define READER_WAYS(READER_WAY)                                                  \
	READER_WAY(FILES, "reader")                                              \
	READER_WAY(NAMES, "namer")     /* also opens files that they refer to */ \
	READER_WAY(DEVICES, "devices") /* loads libraries that open devices */   \
	READER_WAY(SERVERS, "fetcher") /* ... that talk to servers; writes files */

enum reader_way {
#define READER_WAY(name, word) WAY_##name,
	READER_WAYS(READER_WAY)
#undef READER_WAY
		WAY_COUNT
};

enum { READER_SOCKET = 3 }; /* the descriptor of its end of the socket */

/* A question as it arrived: only its length was checked. */
struct reading {
	uint32_t job;
	int fds[READER_FDS]; /* -1: none; closed after the answer unless taken with TAKE_FD() */
	uint8_t *bytes;      /* aligned as by malloc() */
	size_t len;
	uint64_t max_bytes; /* limit of the memory of the process */
	void **kept; /* kept between questions; NULL at first; defined by the job that sets it */
	/* Set by the job: called once when no question has arrived for a while, to free the part of
	 * *kept that the next question may not need. */
	void (*forget)(void *kept);
};

/* Appends the bytes of the answer. 0; -EPROTO when the question is malformed, which ends the
 * process; or a negative errno for the daemon. */
typedef int reader_answer_fn(struct reading *reading, struct buf *out);

static inline bool reader_loads_libraries(enum reader_way way)
{
	return way >= WAY_DEVICES;
}

const char *reader_command(enum reader_way way);
/* Whether the command line is that of a reader process. */
bool reader_wanted(int argc, char **argv);
/* main() of the process: answers until the other end is closed. Returns the exit status; EX_USAGE
 * at once when there is no socket. */
int reader_main(int argc, char **argv, reader_answer_fn *fn);
