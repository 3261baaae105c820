/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How a reader process opens files that other files refer to, such as .dwo, .dwp and dwz files,
 * which libdw opens by itself. open(2) of a FIFO, a device or a file with a lease waits for other
 * processes, so the filter (filter.h) allows only calls with O_NONBLOCK. Other calls raise SIGSYS,
 * and are made here instead: only for regular files, and without waiting. The caller sees an open()
 * that returned a descriptor or failed. For the thread of the reader process only.
 */
#pragma once

#include <sys/types.h>

enum { OPENING_ANY_OWNER = -1 };

/* Must be called before the filter is installed. 0 or a negative errno. */
int opening_install(void);
/* From now on only files of root and of that user are opened, because another user may have put a
 * file at the path that is referred to. Initially OPENING_ANY_OWNER. */
void opening_trust(uid_t owner);
/* Makes a call that does not have O_NONBLOCK. A descriptor or a negative errno; -EACCES for a file
 * that is not regular or has another owner. Safe in a signal handler. */
int opening_open(int folder, const char *path, int flags);
