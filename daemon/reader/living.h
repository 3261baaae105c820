/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The list of reader processes, and the CPU time of all that ever existed. The kernel adds the time
 * of a process to its parent's when the process is reaped. Reaping is only done here, under the
 * lock that is held while the time is read, so that the time of no process counts twice or not at
 * all. One list for the whole daemon. Any thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { MAX_READER_PROCESSES = 64 }; /* processes that run or linger (reader/lingering.h) */

/* Adds a process that was started after lingering_begin(). */
void living_add(pid_t pid);
/* waitpid(pid, NULL, WNOHANG): 0 while the process lives. */
pid_t living_reap(pid_t pid);
/* Copies the pids of the living processes; returns their number. */
size_t living_pids(pid_t ret_pids[MAX_READER_PROCESSES]);
/* CPU time of living and ended reader processes; never decreases. */
uint64_t living_cpu_ns(void);
