/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reader processes that were killed but are not dead yet, because a file system that does not
 * respond can block them. There is one list for the whole daemon, because a process may outlive the
 * struct reader that started it. It is reaped here, and takes a place until then. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	MAX_LINGERING_OF_NAME = 16, /* so that one kind of process leaves places to the others */
	MAX_LINGERING_OF_USER = 2,  /* of one name, over files of one user */
};

/* Takes a place for a process that is to be started; `name` is that of its program. -EBUSY when
 * there is no place, or when too many processes of that name linger. */
int lingering_begin(const char *name);
/* Releases the place once `pid` is dead; until then the process lingers. 0: it is dead, or was
 * never started. `user`: READER_USER() of the user of the last file that it was asked about; 0: no
 * user. */
void lingering_end(const char *name, pid_t pid, uint64_t user);
/* Whether so many processes of that name linger over files of that user that no process must be
 * asked about further files of the user. */
bool lingering_over(const char *name, uint64_t user);
/* Reaps the processes that have died since; returns how many still linger. */
size_t lingering_reap(void);
