/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The privileges that the daemon keeps, and giving up all others for good.
 *
 * Capabilities belong to a thread, and threads that it starts inherit them. So this is done while
 * there is no other thread. No capability that was given up comes back, not even by running a
 * program (no_new_privs). Root stays user 0, which owns most files, so that its sockets and caches
 * remain its own. An operator who wants fewer privileges runs the daemon as another user, with the
 * CAPABILITIES of base/capabilities.h.
 */
#pragma once

#include "base/capabilities.h"

#define CAPABILITY(...) +1
enum { CAPABILITY_COUNT = 0 CAPABILITIES(CAPABILITY) ROOT_CAPABILITIES(CAPABILITY) };
#undef CAPABILITY

/* The capabilities that are left, as shown by /status; followed by NULL. */
struct privileges {
	const char *names[CAPABILITY_COUNT + 1];
};

/* Gives up all capabilities that are not in the list, also for programs that are started later. To
 * be called after addresses are bound and limits are set, which may need more. 0 or a negative
 * errno: the caller must not continue. */
int privileges_reduce(void);
/* Warns when the remaining capabilities are not enough to confine reader processes fully. */
void privileges_warn_of_readers(void);
/* The remaining capabilities of this thread. */
void privileges_get(struct privileges *ret_privileges);
