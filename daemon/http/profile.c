/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /profile and its aliases: checks what the query alone cannot tell, such as whether a process
 * exists and whether a time is still kept, and starts a capture.
 */
#include "base/clock.h"
#include "http/capture.h"
#include "http/process_id.h"
#include "http/route.h"
#include "http/timestamp.h"

#include <errno.h>
#include <inttypes.h>

static bool slice_has(const struct profile *slice, uint32_t pid)
{
	for (uint32_t i = 1; i < slice->task_count; i++)
		if (slice->tasks[i].pid == pid)
			return true;
	return false;
}

static bool recorded(const struct history *history, enum profile_kind kind, uint32_t pid)
{
	_cleanup_(slices_release) struct slices slices = {0};

	if (recorder_read(history_recorder(history, kind), 0, UINT64_MAX, &slices) < 0)
		return false;
	for (size_t i = 0; i < slices.count; i++)
		if (slice_has(slices.profiles[i], pid))
			return true;
	return false;
}

static int check_pids(const struct service *service, const struct profile_query *ask,
                      struct refusal *ret_refusal)
{
	const struct selection *selection = &ask->selection;

	for (size_t i = 0; i < selection->pid_count; i++) {
		uint32_t pid = selection->pids[i];
		uint32_t process;

		if (procs_remembers(service->procs, pid))
			continue;
		process = process_of(pid);
		if (process == pid || recorded(service->history, ask->kind, pid))
			continue;
		if (process)
			return refuse(ret_refusal, MHD_HTTP_NOT_FOUND,
			              "no process %" PRIu32 ": it is a thread of process %" PRIu32
			              "; use tid=%" PRIu32,
			              pid, process, pid);
		return refuse(ret_refusal, MHD_HTTP_NOT_FOUND,
		              "no process %" PRIu32
		              " runs or was recorded; GET /processes lists them",
		              pid);
	}
	return 0;
}

static int check_kept(const struct service *service, const struct profile_query *ask,
                      struct refusal *ret_refusal)
{
	uint64_t offset_ns = clock_wall_ns() - clock_mono_ns();
	char oldest[TIMESTAMP_BYTES];
	struct recorder_stats stats;
	uint64_t oldest_mono_ns;

	if (ask->range != RANGE_BETWEEN)
		return 0;
	recorder_get_stats(history_recorder(service->history, ask->kind), &stats);
	oldest_mono_ns = stats.oldest_mono_ns ? stats.oldest_mono_ns : service->start_mono_ns;
	if (ask->to_unix_ns > oldest_mono_ns + offset_ns)
		return 0;
	timestamp_format(oldest_mono_ns + offset_ns, oldest);
	return refuse(ret_refusal, MHD_HTTP_NOT_FOUND,
	              "nothing that old is kept; the oldest is from=%s", oldest);
}

void handle_profile(struct request *request)
{
	const struct service *service = request->service;
	const struct profile_bounds bounds = {service->keep_ns, service->policy->max_seconds};
	struct profile_query ask;
	struct refusal refusal;
	int err;

	err = profile_query_read(&request->query, clock_wall_ns(), &bounds, &ask, &refusal);
	if (!err)
		err = check_kept(service, &ask, &refusal);
	if (!err)
		err = check_pids(service, &ask, &refusal);
	if (err) {
		request_refuse(request, &refusal);
		return;
	}
	if (request->head) {
		request_answer_head(request, ask.format.encoder->content_type);
		return;
	}
	err = capture_start(request, &ask);
	if (err)
		request_fail(request, err);
}
