/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the daemon may do beside what everybody may, and giving up the rest for good.
 *
 * Capabilities belong to a thread and are handed to the threads it starts. So this is done
 * while there is no other thread. Nothing given up comes back: not by running a program either
 * (no_new_privs). Root stays user 0, who owns most files, so that its sockets and caches stay its
 * own; who wants less runs the daemon as another user, with the CAPABILITIES of the list.
 */
#pragma once

#include "base/capabilities.h"

#define CAPABILITY(...) +1
enum { CAPABILITY_COUNT = 0 CAPABILITIES(CAPABILITY) ROOT_CAPABILITIES(CAPABILITY) };
#undef CAPABILITY

/* Those left, as /status tells them; NULL behind the last. */
struct privileges {
	const char *names[CAPABILITY_COUNT + 1];
};

/* Gives up all but those in the list, and what programs started later would get. After addresses
 * are bound and limits are set, which may take more. 0 or a negative errno: do not go on. */
int privileges_reduce(void);
/* Where those are not enough to shut reader processes in as far as elsewhere. */
void privileges_warn_of_readers(void);
/* What this thread has left. */
void privileges_get(struct privileges *ret_privileges);
