/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Forbidding a process by Landlock, for good, what its user may do: open files by name, use TCP,
 * reach processes that are not forbidden the same. It works where the kernel has it, and on kernels
 * of before 6.7 for files only. Descriptors that are open already, or handed over later, stay what
 * they are. No state; any thread.
 */
#pragma once

#include <stdint.h>

/* Bits, as the kernel has them. */
struct landlock_rights {
	uint64_t files;  /* LANDLOCK_ACCESS_FS_... */
	uint64_t tcp;    /* LANDLOCK_ACCESS_NET_... */
	uint64_t scopes; /* of signals, and of unix sockets without a file */
};

enum { LANDLOCK_TCP_BIND = 1, LANDLOCK_TCP_CONNECT = 2 };

/* All that can be forbidden here. Nothing where the kernel has no Landlock, where it is switched
 * off, and where a filter of the service or the container does not let it through. */
struct landlock_rights landlock_known(void);
/* A ruleset that forbids these, of those that are known. A descriptor, or a negative errno. */
int landlock_rules(const struct landlock_rights *forbidden);
/* From now on this thread, and those that it starts, may do only what the rules let it. Wants
 * no_new_privs. 0, or a negative errno: then do not go on. */
int landlock_enter(int rules);
/* Both, without any exception. 0 also where nothing is known. */
int landlock_forbid(const struct landlock_rights *forbidden);
