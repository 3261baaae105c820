/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct reader_process - one reader process, from its parent's side: it is started, asked one
 * question at a time, and stopped. No call lasts longer than its deadline. After an error the
 * process is unusable and must be stopped. For one thread at a time, which must outlive the
 * process: when the thread that started it ends, the kernel kills the process.
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
	int pidfd; /* for killing it */
	int socket;
	const char *name; /* of the program */
	uint64_t user;    /* READER_USER() of the user of the last file asked about; 0: no user */
	/* During this question: how long the daemon was, and the process has been, stopped. */
	uint64_t stopped_ns, standing_ns;
	/* The same: how long the process waited for a CPU, and how much of that the deadline may
	 * move; before_ns: its waits before this question. */
	uint64_t waited_ns, max_wait_ns, before_ns;
	enum reader_way way; /* set before the start */
	bool cancelled;      /* set by any thread; ends all waits */
};

/* The program to run, and how. */
struct reader_program {
	const char *path;
	const char *name;      /* what it reads; the process is shown as profd-NAME */
	uint64_t max_bytes;    /* limit of memory, in addition to what it has at its start */
	unsigned int niceness; /* added to the daemon's */
};

/* Bytes of a question, in pieces so that they need not be copied into one buffer. */
struct reader_piece {
	const void *bytes;
	size_t len;
};
enum { READER_PIECES = 2 };

struct reader_question {
	uint32_t job;
	int fds[READER_FDS]; /* -1: none */
	struct reader_piece pieces[READER_PIECES];
};

/* The time for an answer. */
struct reader_time {
	uint64_t ns;         /* the deadline */
	uint64_t longest_ns; /* if longer, waits for a CPU do not count, but only until then */
};

struct reader_reply {
	int error;      /* from the process: 0 or a negative errno */
	uint8_t *bytes; /* not checked yet; the caller must free() them */
	size_t len;
};

/* Runs the program and waits until it reports that it is confined. Errors: those of the kernel,
 * those that the process reports, -EPROTO when it does not report, -EBUSY when too many processes
 * linger (lingering.h). */
int reader_process_start(struct reader_process *process, const struct reader_program *program,
                         uint64_t until_ns);
void reader_process_stop(struct reader_process *process);

/* Asks a question. The deadline moves when the daemon is stopped meanwhile, for example by SIGSTOP.
 * Failures of the process: -EPIPE when it died, -ETIMEDOUT when it missed the deadline although it
 * worked, -EBADMSG when its answer is malformed. Failures caused from outside: -EOWNERDEAD when
 * another process, or the kernel for lack of memory, killed it or stopped it for a second; -EBUSY
 * when it waited for a CPU until `longest_ns`; -ETIME when it missed the deadline and used little
 * CPU time, because it was held or blocked in a file system. -ECANCELED, -ENOMEM and others are
 * errors of the daemon. */
int reader_process_ask(struct reader_process *process, const struct reader_question *question,
                       const struct reader_time *time, struct reader_reply *ret_reply);
