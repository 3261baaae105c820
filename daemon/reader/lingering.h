/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reader processes that were killed, but are not dead yet: a file system that answers no more can
 * hold them. One list for the whole daemon, for what started one may be gone long before it: it is
 * reaped here, and takes a place until then. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	MAX_READER_PROCESSES = 64,  /* that run or linger */
	MAX_LINGERING_OF_NAME = 16, /* so that those of one kind leave places to the others */
	MAX_LINGERING_OF_USER = 2,  /* of a name, over files of one user */
};

/* Takes a place for a process that is to be started; `name` is its program's. -EBUSY when there is
 * none, or when too many of that name linger. */
int lingering_begin(const char *name);
/* Gives it back; `pid` lingers in it until it is dead, 0: it is dead, or was never started. `user`:
 * READER_USER() of whose file it was asked about last, 0: nobody's. */
void lingering_end(const char *name, pid_t pid, uint64_t user);
/* So many of that name linger over that user's files that none is asked about more of them. */
bool lingering_over(const char *name, uint64_t user);
/* Takes leave of those that have died since; how many are left. */
size_t lingering_reap(void);
