/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The user of a process, from /proc/PID/status: its real user id, which is the user that started
 * it, as numbered in the daemon's user namespace. The owner of the files below /proc/PID is not
 * used: root owns them when a program makes itself undumpable (prctl PR_SET_DUMPABLE). No state;
 * any thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define OWNER_UNKNOWN UINT32_MAX /* no user has this number */

/* The real user id in the text of a status file. */
uint32_t owner_parse(const char *bytes, size_t len);
/* The user id in the text, when all four (real, effective, saved, file system) are the same. */
uint32_t owner_parse_sole(const char *bytes, size_t len);
/* The user that may inspect the process without further rights, by the rules of ptrace(2): the user
 * of all four ids, when the process is dumpable. OWNER_UNKNOWN: no user may; for example for
 * set-uid and set-gid programs, and for programs with capabilities. */
uint32_t owner_read_sole(uint32_t pid);
/* The account whose shares the process counts against: account_of() its user. OWNER_UNKNOWN when
 * the process is gone. */
uint32_t owner_read(uint32_t pid);
