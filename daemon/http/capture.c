/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Captures. The three kinds of range differ in how they get their ends:
 *   seconds=   cut, wait, cut
 *   last=      cut, so that the newest samples are in
 *   from=&to=  cut only when `to` is about now
 */
#include "http/capture.h"

#include "base/clock.h"
#include "http/kinships.h"
#include "http/render.h"

#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdio.h>

enum stage { STAGE_CUTTING, STAGE_RENDERING };

struct capture {
	struct cut cut;
	struct job job;
	const struct service *service;
	struct request *request; /* NULL once nobody waits for it */
	struct query query;
	struct profile_query ask;
	enum stage stage;
	uint64_t from_mono_ns, to_mono_ns;
	bool begun; /* `from_mono_ns` is known, and held for seconds= */
	struct slices slices;
	struct kinship *known; /* for children= */
	struct render_plan plan;
	struct buf body;
	int error;
};

static struct capture *capture_of_cut(struct cut *cut)
{
	return (struct capture *)((char *)cut - offsetof(struct capture, cut));
}

static struct capture *capture_of_job(struct job *job)
{
	return (struct capture *)((char *)job - offsetof(struct capture, job));
}

static void capture_end(struct capture *capture)
{
	if (capture->ask.range == RANGE_NEXT && capture->begun)
		recorder_unhold(capture->service->recorder, capture->from_mono_ns);
	capture->begun = false;
	slices_release(&capture->slices);
	free(capture->known);
	buf_release(&capture->body);
	query_release(&capture->query);
	free(capture);
}

/* The request is about to be answered by somebody else, or freed. */
static void on_abandoned(void *owner)
{
	struct capture *capture = owner;

	capture->request = NULL;
	if (capture->stage == STAGE_RENDERING)
		return; /* a worker has it; on_rendered() ends it */
	if (capture->stage == STAGE_CUTTING)
		collector_cancel(capture->service->collector, &capture->cut);
	capture_end(capture);
}

static void capture_fail(struct capture *capture, int err)
{
	request_fail(capture->request, err);
	capture->request = NULL;
	capture_end(capture);
}

static void capture_answer(struct capture *capture)
{
	const struct encoder *encoder = capture->ask.encoder;
	struct request *request = capture->request;
	char disposition[160];

	request_answer(request, encoder->content_type, &capture->body);
	if (encoder->suffix[0]) {
		snprintf(disposition, sizeof(disposition),
		         "attachment; filename=\"profd-%.64s-cpu%.16s\"",
		         capture->service->host->nodename, encoder->suffix);
		request_header(request, MHD_HTTP_HEADER_CONTENT_DISPOSITION, disposition);
	}
}

/* Worker thread. */
static void run_render(struct job *job)
{
	struct capture *capture = capture_of_job(job);

	capture->error = render_profile(&capture->plan, &capture->body);
	if (!capture->error)
		capture->error = buf_error(&capture->body);
}

/* Rendering takes memory in many small pieces, which the allocator would keep for the next time. */
static void give_memory_back(const struct lane *render)
{
	if (!lane_length(render))
		malloc_trim(0);
}

static void on_rendered(struct job *job)
{
	struct capture *capture = capture_of_job(job);
	const struct lane *render = capture->service->render;

	if (capture->request && capture->error)
		request_fail(capture->request, capture->error);
	else if (capture->request)
		capture_answer(capture);
	capture_end(capture);
	give_memory_back(render);
}

static int read_known(struct capture *capture)
{
	struct selection *selection = &capture->ask.selection;
	int err;

	if (!selection->children)
		return 0;
	err = kinships_read(capture->service->procs, &capture->known, &selection->known_count);
	selection->known = capture->known;
	return err;
}

static void capture_render(struct capture *capture)
{
	const struct service *service = capture->service;
	struct collector_stats stats;
	int err;

	err = recorder_read(service->recorder, capture->from_mono_ns, capture->to_mono_ns,
	                    &capture->slices);
	if (!err)
		err = read_known(capture);
	if (err) {
		capture_fail(capture, err);
		return;
	}
	collector_get_stats(service->collector, &stats);
	capture->plan = (struct render_plan){
		.symbolizer = service->symbolizer,
		.host = service->host,
		.event = stats.event,
		.sample_hz = service->sample_hz,
		.query = &capture->ask,
		.slices = capture->slices.profiles,
		.slice_count = capture->slices.count,
		.from_mono_ns = capture->from_mono_ns,
		.to_mono_ns = capture->to_mono_ns,
		.wall_offset_ns = clock_wall_ns() - clock_mono_ns(),
	};
	capture->stage = STAGE_RENDERING;
	capture->error = -ECANCELED;
	capture->job.run = run_render;
	capture->job.done = on_rendered;
	err = lane_submit(service->render, &capture->job);
	if (err)
		capture_fail(capture, err);
}

static void capture_wait(struct capture *capture, uint64_t boundary_mono_ns)
{
	int err = recorder_hold(capture->service->recorder, boundary_mono_ns);

	if (err) {
		capture_fail(capture, err);
		return;
	}
	capture->from_mono_ns = boundary_mono_ns;
	capture->begun = true;
	capture->cut.at_mono_ns = boundary_mono_ns + capture->ask.length_ns;
	collector_cut(capture->service->collector, &capture->cut);
}

static void on_cut(struct cut *cut, uint64_t boundary_mono_ns)
{
	struct capture *capture = capture_of_cut(cut);
	uint64_t length_ns = capture->ask.length_ns;

	switch (capture->ask.range) {
	case RANGE_NEXT:
		if (!capture->begun) {
			capture_wait(capture, boundary_mono_ns);
			return;
		}
		capture->to_mono_ns = boundary_mono_ns;
		break;
	case RANGE_LAST:
		capture->to_mono_ns = boundary_mono_ns;
		capture->from_mono_ns =
			boundary_mono_ns > length_ns ? boundary_mono_ns - length_ns : 0;
		break;
	case RANGE_BETWEEN:
		if (capture->to_mono_ns > boundary_mono_ns)
			capture->to_mono_ns = boundary_mono_ns;
		break;
	}
	capture_render(capture);
}

/* A moment by the wall clock on the monotonic one; what was before the boot is 0. */
static uint64_t mono_of_wall(uint64_t unix_ns)
{
	uint64_t offset_ns = clock_wall_ns() - clock_mono_ns();

	return unix_ns > offset_ns ? unix_ns - offset_ns : 0;
}

int capture_start(struct request *request, const struct profile_query *ask)
{
	struct capture *capture = calloc(1, sizeof(*capture));
	uint64_t now_ns = clock_mono_ns();
	int err;

	if (!capture)
		return -ENOMEM;
	err = request_park(request, capture, on_abandoned);
	if (err) {
		free(capture);
		return err;
	}
	capture->service = request->service;
	capture->request = request;
	capture->ask = *ask;
	capture->query = request->query;
	request->query = (struct query){0};
	capture->cut.done = on_cut;
	capture->stage = STAGE_CUTTING;
	if (ask->range == RANGE_BETWEEN) {
		capture->from_mono_ns = mono_of_wall(ask->from_unix_ns);
		capture->to_mono_ns = mono_of_wall(ask->to_unix_ns);
		if (capture->to_mono_ns + NSEC_PER_SEC < now_ns) {
			capture_render(capture);
			return 0;
		}
	}
	collector_cut(capture->service->collector, &capture->cut);
	return 0;
}
