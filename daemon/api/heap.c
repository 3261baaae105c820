/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /heap: checks what cannot be seen from the query alone, namely whether the process exists and
 * whether the client may have it watched, and starts a capture.
 */
#include "api/heap_capture.h"
#include "http/admission.h"
#include "http/route.h"
#include "views/process_id.h"

#include <inttypes.h>

static int check_pid(uint32_t pid, struct refusal *ret_refusal)
{
	uint32_t process = process_of(pid);

	if (process == pid)
		return 0;
	if (process)
		return refuse(ret_refusal, MHD_HTTP_NOT_FOUND,
		              "%" PRIu32 " is a thread of process %" PRIu32
		              ", whose threads share one heap; use pid=%" PRIu32,
		              pid, process, process);
	return refuse(ret_refusal, MHD_HTTP_NOT_FOUND,
	              "no process %" PRIu32 " is running; GET /processes lists the running ones",
	              pid);
}

/* What a process reports about its own allocations is shown like any profile; everything else needs
 * probes. */
static int check_client(struct request *request, struct heap_query *query,
                        struct refusal *ret_refusal)
{
	uint64_t bytes;
	int err = admit_same_site(request, ret_refusal);

	query->told = !query->watch && heaps_inuse(request->service->heaps, query->ask.pid, &bytes);
	if (!err && !query->told)
		err = admit_attaching(request, ret_refusal);
	if (!err)
		err = check_pid(query->ask.pid, ret_refusal);
	if (!err && !query->told)
		err = admit_attaching_to(request, query->ask.pid, &query->ask.owner, ret_refusal);
	return err;
}

/* Clients on other hosts are charged to no user's share: they have shown credentials. */
static uint32_t asking_user(struct request *request)
{
	uint32_t uid;

	return peer_user(&request->client->peer, &uid) ? 0 : uid;
}

void handle_heap(struct request *request)
{
	struct heap_query query;
	struct refusal refusal;
	int err;

	err = heap_query_read(&request->query, request->service->policy->max_seconds, &query,
	                      &refusal);
	if (!err)
		err = check_client(request, &query, &refusal);
	if (err) {
		request_refuse(request, &refusal);
		return;
	}
	if (request->head) {
		request_answer_head(request, query.format.encoder->content_type);
		return;
	}
	query.ask.user = asking_user(request);
	err = heap_capture_start(request, &query);
	if (err)
		request_fail(request, err);
}
