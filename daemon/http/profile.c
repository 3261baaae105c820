/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /profile and its aliases: checks what cannot be seen from the query alone but takes no time,
 * namely whether the requested time is still kept, and starts a capture.
 */
#include "base/clock.h"
#include "http/capture.h"
#include "http/route.h"
#include "http/timestamp.h"

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
	              "profd keeps no samples that old; the oldest are at from=%s", oldest);
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
	if (err) {
		request_refuse(request, &refusal);
		return;
	}
	err = capture_start(request, &ask);
	if (err)
		request_fail(request, err);
}
