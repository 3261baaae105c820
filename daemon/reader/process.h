/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct reader_process - one reader process as its parent sees it: started, asked once at a time,
 * stopped. No call lasts longer than the deadline it is given; after an error the process is of no
 * more use and must be stopped. One thread at a time, and none that ends before the process: when
 * the thread that started it ends, so does the process.
 */
#pragma once

#include "base/accounts.h"
#include "reader/serve.h"
#include "reader/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define READER_USER(uid) ((uint64_t)account_of(uid) + 1)

struct reader_process {
	pid_t pid; /* 0: none */
	int pidfd; /* what it is killed by */
	int socket;
	const char *name; /* the program's */
	uint64_t user;    /* READER_USER() of whose file it was asked about last; 0: nobody's */
	/* During this question: for how long we were stopped, and it is. */
	uint64_t stopped_ns, standing_ns;
	enum reader_way way; /* set before the start */
	bool cancelled;      /* set by any thread: nothing is waited for any more */
};

/* What is run, and how. */
struct reader_program {
	const char *path;
	const char *name;      /* what it reads, for lists of processes: profd-NAME */
	uint64_t max_bytes;    /* of memory, over what it has when it starts */
	unsigned int niceness; /* over the daemon's */
};

/* Bytes of a question, in pieces so that they need not be copied together. */
struct reader_piece {
	const void *bytes;
	size_t len;
};
enum { READER_PIECES = 2 };

struct reader_question {
	uint32_t job;
	int fds[READER_FDS]; /* those that are not -1 are sent */
	struct reader_piece pieces[READER_PIECES];
};

struct reader_reply {
	int error;      /* what the process says: 0 or negative errno */
	uint8_t *bytes; /* free() it; not checked yet */
	size_t len;
};

/* Runs the program and waits until it says that it is confined. Errors are why it cannot be
 * started: the kernel's, its own, -EPROTO when it says nothing of the kind, -EBUSY when too many
 * linger, see lingering.h. */
int reader_process_start(struct reader_process *process, const struct reader_program *program,
                         uint64_t until_ns);
void reader_process_stop(struct reader_process *process);

/* `until_ns` is of CLOCK_MONOTONIC; it moves when we are stopped meanwhile, as by SIGSTOP. The
 * process's own failures are -EPIPE when it died, -ETIMEDOUT when it was late though it worked, and
 * -EBADMSG when what it answered makes no sense. Others' doing are -EOWNERDEAD when somebody, or
 * the kernel for want of memory, killed it or stopped it for a second, and -ETIME when it was late
 * with little CPU time used: it was starved, or a file system held it. -ECANCELED, -ENOMEM and
 * others are ours. */
int reader_process_ask(struct reader_process *process, const struct reader_question *question,
                       uint64_t until_ns, struct reader_reply *ret_reply);
