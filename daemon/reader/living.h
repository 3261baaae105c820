/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which reader processes there are, and what all that ever were have taken of the CPUs. A process's
 * time goes over to its parent when it is reaped; that is done here only, under the lock that the
 * time is read under, so that nobody's counts twice or not at all. One list for the whole daemon.
 * Any thread.
 */
#pragma once

#include "reader/lingering.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A process that was started under lingering_begin(). */
void living_add(pid_t pid);
/* waitpid(pid, NULL, WNOHANG): 0 while it lives. */
pid_t living_reap(pid_t pid);
/* How many there are, and which. */
size_t living_pids(pid_t ret_pids[MAX_READER_PROCESSES]);
/* CPU time of them and of those that have ended; never goes back. */
uint64_t living_cpu_ns(void);
