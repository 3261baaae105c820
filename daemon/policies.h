/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct policies - keeps the policy that requests are held against (http/policy.h) as the settings
 * say it. Who is in the group is read before anything is answered, and again on SIGHUP on a worker
 * thread, because a directory server may take its time; until it is known, what was known holds,
 * and of what was not known, that root only is answered. Loop thread only.
 */
#pragma once

#include "base/lane.h"
#include "config.h"
#include "http/policy.h"

struct policies {
	struct policy now; /* what holds */

	/* Its own. */
	const struct config *config;
	struct members *members;
	struct lane *lane; /* NULL before the start */
	struct job job;
	bool reading, again;
	char *group; /* being read */
	struct members *found;
	int error;
};

/* Whether the settings can hold, which may take as long as policies_start(). -EBADMSG: there is no
 * such group. */
int policies_check(const struct config *config, char ret_why[256]);
/* `config` outlives it. On failure `ret_why` is one line for a person; -EBADMSG as above. */
int policies_start(struct policies *policies, uv_loop_t *loop, const struct config *config,
                   char ret_why[256]);
/* The settings were read again. */
void policies_update(struct policies *policies);
void policies_stop(struct policies *policies);
/* After the loop has run out. */
void policies_release(struct policies *policies);
