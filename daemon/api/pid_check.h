/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct pid_check - checks whether the processes that a request names are known. Those in the
 * process table are found at once. For others /proc, all that is recorded and all that is
 * remembered must be searched: so the request must be counted first, and most of the work is a job
 * of the render lane. Loop thread.
 */
#pragma once

#include "http/refusal.h"
#include "http/service.h"
#include "proc/few_pids.h"
#include "profile/select.h"

/* Embedded in its owner, which fills in the first members. */
struct pid_check {
	const struct service *service;
	uint64_t account;  /* client_account() of the client */
	bool may_be_older; /* a process may be in slices older than the history, see below */
	/* 0, -EINVAL with `refusal`, or another negative errno. Called once. */
	void (*done)(struct pid_check *check, int err);
	struct refusal refusal;
	bool abandoned; /* the request is gone; done() is called all the same */

	/* Private. */
	struct turn turn;
	struct few_pids unknown;
	struct slices slices;
	int error;
};

/* With `may_be_older`, for the slices that were read since: 0, or -EINVAL with `refusal`. */
int pid_check_slices(struct pid_check *check, const struct slices *slices);
/* Checks whether the selection's processes run, or were recorded in profiles of that kind. Calls
 * done(), perhaps before it returns. */
void pid_check_start(struct pid_check *check, const struct selection *selection,
                     enum profile_kind kind);
