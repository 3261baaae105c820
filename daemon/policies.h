/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct policies - makes the policy for requests (http/policy.h) from the settings. The members of
 * the group are read before the first request is served, and again on SIGHUP on a worker thread,
 * because a directory server may be slow. Until the new members are known the old ones remain
 * valid; if none were known, only root is served. Loop thread only.
 */
#pragma once

#include "base/lane.h"
#include "config.h"
#include "http/policy.h"

struct policies {
	struct policy now; /* the policy in force */

	/* Private. */
	const struct config *config;
	struct members *members;
	struct lane *lane; /* NULL before the start */
	struct job job;
	bool reading, again;
	char *group; /* the group being read */
	struct members *found;
	int error;
};

/* Checks the settings, which may take as long as policies_start(). -EBADMSG: there is no such
 * group. */
int policies_check(const struct config *config, char ret_why[256]);
/* `config` must outlive the policies. On failure `ret_why` is one line for a person; -EBADMSG as
 * above. */
int policies_start(struct policies *policies, uv_loop_t *loop, const struct config *config,
                   char ret_why[256]);
/* Applies settings that were read again. */
void policies_update(struct policies *policies);
void policies_stop(struct policies *policies);
/* To be called after the loop has ended. */
void policies_release(struct policies *policies);
