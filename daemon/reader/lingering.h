/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reader processes that were killed, but are not dead yet: a file system that answers no more can
 * hold them. One list for the whole daemon, for what started one may be gone long before it: it is
 * reaped here, and takes a place until then. Any thread.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

enum {
	MAX_READER_PROCESSES = 64,  /* that run or linger */
	MAX_LINGERING_OF_NAME = 16, /* so that those of one kind leave places to the others */
};

/* Takes a place for a process that is to be started; `name` is its program's. -EBUSY when there is
 * none, or when too many of that name linger. */
int lingering_begin(const char *name);
/* Gives it back; `pid` lingers in it until it is dead, 0: it is dead, or was never started. */
void lingering_end(const char *name, pid_t pid);
/* Takes leave of those that have died since; how many are left. */
size_t lingering_reap(void);
