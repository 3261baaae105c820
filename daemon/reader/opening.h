/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How a reader process opens files that are named by what it reads, such as .dwo, .dwp and dwz
 * files, which libdw opens by itself. open(2) of a FIFO, a device or a file with a lease waits for
 * others, so the filter (filter.h) lets through only calls with O_NONBLOCK; the others raise
 * SIGSYS, and are made here instead: of regular files only, without waiting. The caller sees an
 * open() that returned a descriptor or failed. The reader process's thread only.
 */
#pragma once

#include <sys/types.h>

enum { OPENING_ANY_OWNER = -1 };

/* Before the filter that needs it is installed. 0 or a negative errno. */
int opening_install(void);
/* From now on only files of root and of that user are opened: what somebody else put in the place
 * of a file says nothing about this one. At first OPENING_ANY_OWNER. */
void opening_trust(uid_t owner);
/* What is done for a call that does not have O_NONBLOCK. A descriptor or a negative errno, -EACCES
 * for what is no regular file or is not to be trusted. Safe in a signal handler. */
int opening_open(int folder, const char *path, int flags);
