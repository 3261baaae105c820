/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which user a process is of, as /proc/PID/status says: the one who started it (its real user id,
 * as the daemon's user namespace numbers it). Who owns the files of /proc does not tell: they are
 * root's where a program says so of itself (prctl PR_SET_DUMPABLE). No state; any thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define OWNER_UNKNOWN UINT32_MAX /* no user has this number */

/* The user in the text of a status file. */
uint32_t owner_parse(const char *bytes, size_t len);
/* The user in it, where all four (real, effective, saved, of file systems) are the same one. */
uint32_t owner_parse_sole(const char *bytes, size_t len);
/* The user who may look into the process without further rights, as ptrace(2) has it: the one whom
 * it runs as in every way, where it lets itself be looked into. OWNER_UNKNOWN: nobody; so it is for
 * programs that run with their file's owner's or group's rights, or with capabilities. */
uint32_t owner_read_sole(uint32_t pid);
/* Whom it counts for where shares are concerned: account_of() the user. OWNER_UNKNOWN when the
 * process is gone. */
uint32_t owner_read(uint32_t pid);
