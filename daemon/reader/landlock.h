/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Restricts a process by Landlock, irrevocably: it cannot open files by name, use TCP, or reach
 * processes outside its Landlock domain, although its user may. It works when the kernel has
 * Landlock; before Linux 6.7, for files only. Descriptors that are open already, or passed later,
 * are not affected. No state; any thread.
 */
#pragma once

#include <stdint.h>

/* Bits, as defined by the kernel. */
struct landlock_rights {
	uint64_t files;  /* LANDLOCK_ACCESS_FS_... */
	uint64_t tcp;    /* LANDLOCK_ACCESS_NET_... */
	uint64_t scopes; /* of signals, and of unix sockets without a file */
};

enum { LANDLOCK_TCP_BIND = 1, LANDLOCK_TCP_CONNECT = 2 };

/* All rights that this kernel can forbid. None when the kernel has no Landlock, when it is
 * disabled, or when a filter of the service or the container refuses its system calls. */
struct landlock_rights landlock_known(void);
/* Makes a ruleset that forbids these rights, which must be known. A descriptor, or a negative
 * errno. */
int landlock_rules(const struct landlock_rights *forbidden);
/* From now on the rules apply to this thread and to those that it starts. Requires no_new_privs. 0,
 * or a negative errno: the caller must not continue then. */
int landlock_enter(int rules);
/* Does both, without exceptions to the rules. 0 also when there is nothing to forbid. */
int landlock_forbid(const struct landlock_rights *forbidden);
