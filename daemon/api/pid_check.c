/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The cheapest checks come first, and each list is searched once for all pids.
 */
#include "api/pid_check.h"

#include "views/process_id.h"

#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <stddef.h>

/* This many pids are looked up in /proc on the loop thread: a request for a process that has just
 * started need not wait for the lane. */
enum { AT_ONCE = 2 };

static struct pid_check *check_of(struct job *job)
{
	return (struct pid_check *)((char *)job - offsetof(struct pid_check, turn.job));
}

/* Checks the first `max` pids. */
static void find_running(struct few_pids *unknown, size_t max)
{
	struct few_pids asked = *unknown;

	for (size_t i = 0; i < asked.count && i < max; i++)
		if (process_of(asked.pids[i]) == asked.pids[i])
			few_pids_take(unknown, asked.pids[i]);
}

static void find_recorded(struct few_pids *unknown, const struct slices *slices)
{
	for (size_t i = 0; i < slices->count && unknown->count; i++) {
		const struct profile *slice = slices->profiles[i];

		for (uint32_t task = 1; task < slice->task_count; task++)
			few_pids_pass(unknown, slice->tasks[task].pid);
	}
}

/* Worker thread. */
static void run_check(struct job *job)
{
	struct pid_check *check = check_of(job);

	find_running(&check->unknown, check->unknown.count);
	find_recorded(&check->unknown, &check->slices);
	check->error = 0;
}

static int refuse_pid(struct pid_check *check, uint32_t pid)
{
	uint32_t process = process_of(pid);

	if (process == pid)
		return 0; /* it has started meanwhile */
	if (process)
		return refuse(&check->refusal, MHD_HTTP_NOT_FOUND,
		              "%" PRIu32 " is a thread of process %" PRIu32 "; use tid=%" PRIu32,
		              pid, process, pid);
	return refuse(&check->refusal, MHD_HTTP_NOT_FOUND,
	              "no process %" PRIu32
	              " is running or recorded; GET /processes lists the running ones",
	              pid);
}

static void on_checked(struct job *job)
{
	struct pid_check *check = check_of(job);
	int err = check->error;

	slices_release(&check->slices);
	if (check->abandoned)
		err = -ECANCELED;
	if (!err)
		procs_find_remembered(check->service->procs, &check->unknown);
	if (!err && check->unknown.count && !check->may_be_older)
		err = refuse_pid(check, check->unknown.pids[0]);
	check->done(check, err);
}

int pid_check_slices(struct pid_check *check, const struct slices *slices)
{
	find_recorded(&check->unknown, slices);
	return check->unknown.count ? refuse_pid(check, check->unknown.pids[0]) : 0;
}

void pid_check_start(struct pid_check *check, const struct selection *selection,
                     enum profile_kind kind)
{
	const struct service *service = check->service;
	int err = 0;

	for (size_t i = 0; i < selection->pid_count; i++)
		if (!procs_known(service->procs, selection->pids[i]))
			few_pids_add(&check->unknown, selection->pids[i]);
	find_running(&check->unknown, AT_ONCE);
	if (!check->unknown.count) {
		check->done(check, 0);
		return;
	}
	check->error = -ECANCELED;
	check->turn.job = (struct job){.run = run_check, .done = on_checked};
	check->turn.account = check->account;
	err = recorder_read(history_recorder(service->history, kind), 0, UINT64_MAX,
	                    &check->slices);
	if (!err)
		err = lane_submit_turn(service->render, &check->turn);
	if (!err)
		return;
	slices_release(&check->slices);
	check->done(check, err);
}
