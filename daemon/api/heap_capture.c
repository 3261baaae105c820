/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Captures of the heap of one process.
 */
#include "api/heap_capture.h"

#include "api/rendering.h"
#include "capture/heap_comments.h"
#include "heap/heap_leaves.h"
#include "http/loop_time.h"
#include "profile/held.h"

#include <errno.h>
#include <stddef.h>

enum stage { STAGE_WATCHING, STAGE_RENDERING };

struct heap_capture {
	struct heap_watch watch;
	struct rendering rendering;
	const struct service *service;
	struct request *request; /* NULL once the request is abandoned */
	struct heap_query query;
	enum stage stage;
	struct selection selection; /* selects the whole profile */
	struct profile *profile;
	struct held held; /* the profile's memory */
	struct heap_figures figures;
	struct heap_facts facts;
};

static struct heap_capture *capture_of_watch(struct heap_watch *watch)
{
	return (struct heap_capture *)((char *)watch - offsetof(struct heap_capture, watch));
}

static struct heap_capture *capture_of_rendering(struct rendering *rendering)
{
	return (struct heap_capture *)((char *)rendering -
	                               offsetof(struct heap_capture, rendering));
}

static void capture_end(struct heap_capture *capture)
{
	profile_unref(capture->profile);
	held_give(&capture->held);
	free(capture);
}

/* The caller is about to answer or free the request. */
static void on_abandoned(void *owner)
{
	struct heap_capture *capture = owner;

	if (capture->stage == STAGE_RENDERING) {
		rendering_abandon(&capture->rendering);
		return;
	}
	heaps_cancel(capture->service->heaps, &capture->watch);
	capture_end(capture);
}

static void on_rendered(struct rendering *rendering)
{
	capture_end(capture_of_rendering(rendering));
}

static void capture_fail(struct heap_capture *capture, int err)
{
	request_fail(capture->request, err);
	capture_end(capture);
}

static void capture_render(struct heap_capture *capture)
{
	int err = held_take(&capture->held, client_account(capture->request->client),
	                    capture->profile->memory_bytes);

	if (err) {
		capture_fail(capture, err);
		return;
	}
	capture->facts.ask = &capture->query.ask;
	capture->facts.figures = &capture->figures;
	capture->selection.loops = LOOPS_HIDDEN;
	capture->selection.no_native = capture->facts.no_native = capture->query.format.no_native;
	capture->rendering = (struct rendering){
		.request = capture->request,
		.service = capture->service,
		.kind = "heap",
		.plan = {.selection = &capture->selection,
	                 .encoder = capture->query.format.encoder,
	                 .options = capture->query.format.options,
	                 .slices = &capture->profile,
	                 .slice_count = 1,
	                 .named = capture->query.raw ? NULL : heap_leaves_leave_off,
	                 .describe = heap_describe,
	                 .ctx = &capture->facts},
		.done = on_rendered,
	};
	capture->stage = STAGE_RENDERING;
	err = rendering_start(&capture->rendering);
	if (err)
		capture_fail(capture, err);
}

static const struct {
	int err;
	unsigned int status;
} refusals[] = {
	{-ESRCH, MHD_HTTP_NOT_FOUND},
	{-EBUSY, MHD_HTTP_CONFLICT},
	{-ENOENT, MHD_HTTP_UNPROCESSABLE_CONTENT},
	{-EDQUOT, MHD_HTTP_UNPROCESSABLE_CONTENT},
	{-ENOTSUP, MHD_HTTP_NOT_IMPLEMENTED},
	{-EACCES, MHD_HTTP_FORBIDDEN}, /* a process that not even root may inspect */
	{-EPERM, MHD_HTTP_FORBIDDEN},
	{-ECANCELED, MHD_HTTP_SERVICE_UNAVAILABLE},
};

/* Errors that are not in the table are failures of profd itself. */
static void answer_refused(struct request *request, const struct heap_result *result)
{
	unsigned int status = MHD_HTTP_INTERNAL_SERVER_ERROR;
	struct refusal refusal;

	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (refusals[i].err == result->err)
			status = refusals[i].status;
	if (!result->why[0]) {
		request_fail(request, result->err);
		return;
	}
	refuse(&refusal, status, "%s", result->why);
	request_refuse(request, &refusal);
}

static void on_watched(struct heap_watch *watch, const struct heap_result *result)
{
	struct heap_capture *capture = capture_of_watch(watch);

	if (result->err) {
		answer_refused(capture->request, result);
		capture_end(capture);
		return;
	}
	capture->profile = result->profile;
	capture->figures = result->figures;
	capture_render(capture);
}

/* Makes the profile of what the process reported so far. -ENOENT: it reports nothing; -EBUSY as of
 * loop_time_begin(). */
static int read_standing(struct heap_capture *capture)
{
	const struct heap_ask *ask = &capture->query.ask;
	uint64_t begun_ns;
	int err = loop_time_begin(capture->request, &begun_ns);

	if (err)
		return err;
	err = heaps_standing(capture->service->heaps, ask->pid, ask->mode, &capture->profile,
	                     &capture->figures);
	loop_time_end(capture->request, begun_ns);
	return err;
}

int heap_capture_start(struct request *request, const struct heap_query *query)
{
	struct heap_capture *capture = calloc(1, sizeof(*capture));
	int err, standing = -ENOENT;

	if (!capture)
		return -ENOMEM;
	err = request_park(request, capture, on_abandoned);
	if (err) {
		free(capture);
		return err;
	}
	capture->service = request->service;
	capture->request = request;
	capture->query = *query;
	if (!query->watch)
		standing = read_standing(capture);
	capture->facts.standing = !standing;
	if (!standing) {
		capture_render(capture);
		return 0;
	}
	capture->watch.done = on_watched;
	err = query->told || standing == -EBUSY
	              ? standing
	              : heaps_start(capture->service->heaps, &query->ask, &capture->watch);
	if (err)
		capture_fail(capture, err);
	return 0;
}
