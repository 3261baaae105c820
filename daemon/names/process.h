/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct names_process - one names process as its parent sees it: started, asked once at a time,
 * stopped. No call lasts longer than the deadline it is given; after an error the process is of no
 * more use and must be stopped. One thread: when that thread ends, so does the process.
 */
#pragma once

#include "names/named_file.h"
#include "names/wire.h"

#include <stdbool.h>
#include <sys/types.h>

enum { MAX_LINGERING = 16 };

struct names_process {
	pid_t pid; /* 0: none */
	int socket;
	/* Killed, but not dead yet: a file system that answers no more can hold them. */
	pid_t lingering[MAX_LINGERING];
	size_t lingering_count;
	bool cancelled; /* set by any thread: nothing is waited for any more */
};

struct names_question {
	struct wire_request head;
	const int *fds; /* FILE_COUNT of them; those that are not -1 are sent */
	const uint64_t *addresses;
};

struct names_reply {
	struct wire_answer head;
	uint8_t *bytes; /* free() it; not checked yet */
};

/* Runs `program` and waits until it says that it is confined. Errors are why it cannot be started:
 * the kernel's, its own, -EPROTO when it says nothing of the kind, -EBUSY when too many linger. */
int names_process_start(struct names_process *process, const char *program, uint64_t max_bytes,
                        uint64_t until_ns);
void names_process_stop(struct names_process *process);

/* `until_ns` is of CLOCK_MONOTONIC. -ETIMEDOUT, -EPIPE when it died, -EBADMSG when what it answered
 * makes no sense; -ECANCELED, -ENOMEM and others are ours. */
int names_process_ask(struct names_process *process, const struct names_question *question,
                      uint64_t until_ns, struct names_reply *ret_reply);
