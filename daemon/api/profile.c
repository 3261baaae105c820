/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /profile and its aliases, and /report. What can be seen from the query is checked at once, and
 * whether the requested time is still kept, unless it may be on a disk. Then the request is
 * suspended until the named processes are checked, the samples captured, and the profile rendered.
 * HEAD is answered after the checks. An in-flight request owns itself and frees itself when it is
 * done; when it is abandoned it ends as soon as it can.
 */
#include "api/pid_check.h"
#include "api/profile_query.h"
#include "api/rendering.h"
#include "base/clock.h"
#include "base/text.h"
#include "capture/capture.h"
#include "export/exports.h"
#include "http/route.h"
#include "ingest/source.h"
#include "runtimes/tasks.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

enum stage { STAGE_CHECKING, STAGE_CAPTURING, STAGE_RENDERING };

struct asked {
	struct pid_check check;
	struct capture capture;
	struct rendering rendering;
	struct request *request; /* NULL once the request is abandoned */
	struct query query;      /* the selection's names point into it */
	struct format_query format;
	enum stage stage;
};

static void asked_free(struct asked *asked)
{
	capture_release(&asked->capture);
	query_release(&asked->query);
	free(asked);
}

/* The caller is about to answer or free the request. */
static void on_abandoned(void *owner)
{
	struct asked *asked = owner;

	asked->request = NULL;
	switch (asked->stage) {
	case STAGE_CHECKING:
		asked->check.abandoned = true; /* a worker has it; on_checked() ends it */
		break;
	case STAGE_CAPTURING:
		capture_cancel(&asked->capture);
		asked_free(asked);
		break;
	case STAGE_RENDERING:
		rendering_abandon(&asked->rendering);
		break;
	}
}

static void asked_fail(struct asked *asked, int err)
{
	request_fail(asked->request, err);
	asked_free(asked);
}

static void on_rendered(struct rendering *rendering)
{
	asked_free((struct asked *)((char *)rendering - offsetof(struct asked, rendering)));
}

static uint64_t oldest_kept(const struct service *service, enum profile_kind kind)
{
	struct recorder_stats stats;

	recorder_get_stats(history_recorder(service->history, kind), &stats);
	return (stats.oldest_mono_ns ?: service->start_mono_ns) + clock_wall_ns() - clock_mono_ns();
}

/* Whether the range ends before the history in memory begins. */
static bool is_old(const struct service *service, const struct capture_ask *ask)
{
	return ask->range == RANGE_BETWEEN && ask->to_unix_ns <= oldest_kept(service, ask->kind);
}

/* Identifies the answer: the samples, their time and the format. Two requests that spell the same
 * in different ways get different keys, and both answers are made. */
static struct buf key_of(const struct asked *asked)
{
	const struct capture *capture = &asked->capture;
	const uint64_t range[] = {capture->ask.kind, capture->from_mono_ns, capture->to_mono_ns,
	                          capture->ends_now,
	                          /* What the disk gave. */
	                          (uint64_t)capture->past_err, capture->slices.count};
	struct buf key = BUF_INIT;

	buf_add(&key, range, sizeof(range));
	buf_add(&key, &asked->format.encoder, sizeof(asked->format.encoder));
	for (size_t i = 0; i < asked->query.count; i++) {
		const struct query_pair *pair = &asked->query.pairs[i];

		buf_add(&key, pair->name, strlen(pair->name) + 1);
		buf_add(&key, pair->value, strlen(pair->value) + 1);
	}
	return key;
}

/* `oldest_unix_ns` may be 0. */
static int refuse_old(const struct service *service, enum profile_kind kind,
                      uint64_t oldest_unix_ns, struct refusal *ret_refusal)
{
	char oldest[TIME_TEXT_BYTES];

	text_format_time(oldest_unix_ns ?: oldest_kept(service, kind), oldest);
	return refuse(ret_refusal, MHD_HTTP_NOT_FOUND,
	              "profd keeps no samples that old; the oldest are at from=%s", oldest);
}

static int refuse_busy(struct refusal *ret_refusal)
{
	return refuse(ret_refusal, MHD_HTTP_SERVICE_UNAVAILABLE,
	              "too many requests for samples on the disk are in flight; try again");
}

static int check_waits(const struct service *service, struct refusal *ret_refusal)
{
	struct source_status waits;

	collector_source(service->collector, KIND_offcpu, &waits);
	if (waits.on)
		return 0;
	return refuse(ret_refusal, MHD_HTTP_NOT_FOUND,
	              "a report needs waits, which are not recorded: %s; GET /profile for CPU time "
	              "alone",
	              waits.why);
}

/* What is refused because of what the capture found. 0: nothing. */
static int check_captured(struct asked *asked, int err, struct refusal *ret_refusal)
{
	const struct service *service = asked->request->service;
	const struct capture *capture = &asked->capture;
	const struct capture_ask *ask = &capture->ask;
	uint64_t oldest_unix_ns = capture->past.oldest_unix_ns;

	if (err == -EBUSY && ask->selection.tasks)
		return refuse(ret_refusal, MHD_HTTP_SERVICE_UNAVAILABLE,
		              "too many profiles of tasks are being made, by all or by you; try "
		              "again");
	if (err == -EBUSY)
		return refuse_busy(ret_refusal);
	if (err == -EFBIG || err == -ETIMEDOUT)
		return refuse(ret_refusal, MHD_HTTP_INSUFFICIENT_STORAGE,
		              "the samples of that time on the disk take more than %d MiB, or "
		              "too long; request a shorter time",
		              MAX_PAST_BYTES >> 20);
	if (err)
		return 0;
	if (ask->selection.view == VIEW_wall && capture->second_count &&
	    capture->slices.count == capture->second_count && !check_waits(service, ret_refusal))
		return refuse_old(service, ask->kind, oldest_unix_ns, ret_refusal);
	if (!capture->slices.count && is_old(service, ask) &&
	    (!oldest_unix_ns || ask->to_unix_ns <= oldest_unix_ns))
		return refuse_old(service, ask->kind, oldest_unix_ns, ret_refusal);
	err = pid_check_slices(&asked->check, &capture->slices);
	if (err && capture->past_err)
		return refuse_busy(ret_refusal);
	*ret_refusal = asked->check.refusal;
	return err;
}

/* Whether the tasks of the process can be read. */
static int check_tasks(const struct asked *asked, struct refusal *ret_refusal)
{
	const struct selection *selection = &asked->capture.ask.selection;
	struct runtime_tasks_plan plan;
	const char *why = NULL;

	if (selection->tasks)
		why = collector_plan_tasks(asked->request->service->collector, selection->pids[0],
		                           &plan);
	return why ? refuse(ret_refusal, MHD_HTTP_NOT_FOUND,
	                    "process %" PRIu32 " has no tasks that profd can read: %s",
	                    selection->pids[0], why)
	           : 0;
}

static void on_captured(struct capture *capture, int err)
{
	struct asked *asked = (struct asked *)((char *)capture - offsetof(struct asked, capture));
	struct refusal refusal;

	if (check_captured(asked, err, &refusal)) {
		request_refuse(asked->request, &refusal);
		asked_free(asked);
		return;
	}
	if (err) {
		asked_fail(asked, err);
		return;
	}
	asked->rendering = (struct rendering){
		.request = asked->request,
		.service = asked->request->service,
		.kind = profile_query_type(&capture->ask),
		.key = key_of(asked),
		.plan = {.encoder = asked->format.encoder, .options = asked->format.options},
		.done = on_rendered,
	};
	capture_plan(capture, &asked->rendering.plan);
	asked->stage = STAGE_RENDERING;
	err = rendering_start(&asked->rendering);
	if (err)
		asked_fail(asked, err);
}

static void on_checked(struct pid_check *check, int err)
{
	struct asked *asked = (struct asked *)((char *)check - offsetof(struct asked, check));
	struct request *request = asked->request;

	if (request && !err)
		err = check_tasks(asked, &check->refusal);
	if (request && !err && !request->head) {
		asked->stage = STAGE_CAPTURING;
		capture_start(&asked->capture);
		return;
	}
	if (request && err == -EINVAL)
		request_refuse(request, &check->refusal);
	else if (request && err)
		request_fail(request, err);
	else if (request)
		request_answer_head(request, asked->format.encoder->content_type);
	asked_free(asked);
}

/* Suspends the request and takes ownership of its query, into which `query` points. On an error the
 * request is not suspended, and the caller must still answer it. */
static int submit(struct request *request, const struct profile_query *query)
{
	const struct service *service = request->service;
	struct asked *asked = calloc(1, sizeof(*asked));
	int err;

	if (!asked)
		return -ENOMEM;
	err = request_park(request, asked, on_abandoned);
	if (err) {
		free(asked);
		return err;
	}
	asked->request = request;
	asked->query = request->query;
	request->query = (struct query){0};
	asked->format = query->format;
	asked->capture = (struct capture){
		.from = {service->collector, service->history, service->procs,
	                 exports_past(service->exports), service->watches},
		.ask = query->ask,
		.account = client_account(request->client),
		.done = on_captured,
	};
	asked->check = (struct pid_check){
		.service = service,
		.account = client_account(request->client),
		.may_be_older = asked->capture.from.past && (query->ask.range == RANGE_LAST ||
	                                                     query->ask.range == RANGE_BETWEEN),
		.done = on_checked,
	};
	/* Each process that waits runs before. */
	pid_check_start(&asked->check, &asked->capture.ask.selection,
	                query->ask.selection.view == VIEW_wall ? KIND_cpu : query->ask.kind);
	return 0;
}

typedef int read_fn(const struct query *query, uint64_t now_unix_ns,
                    const struct profile_bounds *bounds, struct profile_query *ret_profile,
                    struct refusal *ret_refusal);

static void handle(struct request *request, read_fn *read)
{
	const struct service *service = request->service;
	const struct profile_bounds bounds = {service->keep_ns, service->policy->max_seconds};
	struct profile_query query;
	struct refusal refusal;
	int err;

	err = read(&request->query, clock_wall_ns(), &bounds, &query, &refusal);
	if (!err && query.needs_waits)
		err = check_waits(service, &refusal);
	if (!err && !exports_past(service->exports) && is_old(service, &query.ask))
		err = refuse_old(service, query.ask.kind, 0, &refusal);
	if (err) {
		request_refuse(request, &refusal);
		return;
	}
	err = submit(request, &query);
	if (err)
		request_fail(request, err);
}

void handle_profile(struct request *request)
{
	handle(request, profile_query_read);
}

void handle_report(struct request *request)
{
	handle(request, report_query_read);
}
