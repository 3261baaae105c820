/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct pid_check - whether somebody knows the processes that a request names. Those of the
 * process table are known at once. For others /proc, all that is recorded and all that is
 * remembered have to be looked at: it is for a request that is counted, and most of it is a job of
 * the render lane. Loop thread.
 */
#pragma once

#include "http/refusal.h"
#include "http/service.h"
#include "proc/few_pids.h"
#include "profile/select.h"

/* Part of its owner, who fills in the first members. */
struct pid_check {
	const struct service *service;
	uint64_t account; /* client_account() of who asks */
	/* 0, -EINVAL with `refusal`, or another negative errno. Called once. */
	void (*done)(struct pid_check *check, int err);
	struct refusal refusal;
	bool abandoned; /* nobody waits for it; done() is called all the same */

	/* Its own. */
	struct turn turn;
	struct few_pids unknown;
	struct slices slices;
	int error;
};

/* Whether those of the selection run, or were recorded in that kind of profile. Calls done(), maybe
 * at once. */
void pid_check_start(struct pid_check *check, const struct selection *selection,
                     enum profile_kind kind);
