/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Captures. The first step checks whether the named processes are known. The three kinds of range
 * differ in how they get their ends:
 *   seconds=   boundary, wait, boundary
 *   last=      boundary, so that the newest samples are included
 *   from=&to=  boundary only when `to` is about now
 * When the range ends now and the kind of profile has a state of what is in use, one more slice
 * holds that state, taken at the boundary that ends the range: the recorded slices hold only what
 * happened.
 */
#include "http/capture.h"

#include "base/clock.h"
#include "collect/source.h"
#include "http/capture_comments.h"
#include "http/kinships.h"
#include "http/pid_check.h"
#include "http/rendering.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

enum stage { STAGE_CHECKING, STAGE_CUTTING, STAGE_RENDERING };

struct capture {
	struct pid_check check;
	struct cut cut;
	struct rendering rendering;
	const struct service *service;
	struct request *request; /* NULL once the request is abandoned */
	struct query query;
	struct profile_query ask;
	enum stage stage;
	uint64_t from_mono_ns, to_mono_ns;
	bool begun; /* `from_mono_ns` is known, and held for seconds= */
	bool ends_now;
	struct slices slices;
	struct kinship *known; /* for children= */
	struct capture_facts facts;
};

static struct capture *capture_of_check(struct pid_check *check)
{
	return (struct capture *)((char *)check - offsetof(struct capture, check));
}

static struct capture *capture_of_cut(struct cut *cut)
{
	return (struct capture *)((char *)cut - offsetof(struct capture, cut));
}

static struct capture *capture_of_rendering(struct rendering *rendering)
{
	return (struct capture *)((char *)rendering - offsetof(struct capture, rendering));
}

static struct recorder *recorder_of(const struct capture *capture)
{
	return history_recorder(capture->service->history, capture->ask.kind);
}

static void capture_end(struct capture *capture)
{
	if (capture->ask.range == RANGE_NEXT && capture->begun)
		recorder_unhold(recorder_of(capture), capture->from_mono_ns);
	capture->begun = false;
	slices_release(&capture->slices);
	free(capture->known);
	query_release(&capture->query);
	free(capture);
}

/* The caller is about to answer or free the request. */
static void on_abandoned(void *owner)
{
	struct capture *capture = owner;

	capture->request = NULL;
	capture->check.abandoned = true;
	capture->rendering.request = NULL;
	if (capture->stage != STAGE_CUTTING)
		return; /* a worker has it; on_checked() or on_rendered() ends it */
	collector_cancel(capture->service->collector, &capture->cut);
	capture_end(capture);
}

static void capture_fail(struct capture *capture, int err)
{
	request_fail(capture->request, err);
	capture->request = NULL;
	capture_end(capture);
}

static void on_rendered(struct rendering *rendering)
{
	capture_end(capture_of_rendering(rendering));
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

/* The facts that the answer's comments state. */
static void read_facts(struct capture *capture)
{
	const struct service *service = capture->service;
	struct capture_facts *facts = &capture->facts;
	struct collector_stats stats;

	collector_get_stats(service->collector, &stats);
	collector_source(service->collector, capture->ask.kind, &facts->source);
	facts->kind = capture->ask.kind;
	facts->event = stats.event;
	facts->sample_hz = service->sample_hz;
	facts->selection = &capture->ask.selection;
	facts->from_mono_ns = capture->from_mono_ns;
	facts->to_mono_ns = capture->to_mono_ns;
	facts->wall_offset_ns = clock_wall_ns() - clock_mono_ns();
	facts->empty = !capture->slices.count;
	facts->all = capture->ask.all;
	facts->state = sources[capture->ask.kind]->in_use && capture->ends_now;
}

/* Identifies the answer: the samples, their time and the format. Two requests that spell the same
 * in different ways get different keys, and both answers are made. */
static struct buf key_of(const struct capture *capture)
{
	const uint64_t range[] = {capture->ask.kind, capture->from_mono_ns, capture->to_mono_ns,
	                          capture->ends_now};
	struct buf key = BUF_INIT;

	buf_add(&key, range, sizeof(range));
	for (size_t i = 0; i < capture->query.count; i++) {
		const struct query_pair *pair = &capture->query.pairs[i];

		buf_add(&key, pair->name, strlen(pair->name) + 1);
		buf_add(&key, pair->value, strlen(pair->value) + 1);
	}
	return key;
}

/* Appends what is in use now to the slices of what happened. */
static int add_state(struct capture *capture)
{
	struct slices *slices = &capture->slices;
	enum profile_kind kind = capture->ask.kind;
	struct profile **grown;
	int err;

	if (!sources[kind]->in_use || !capture->ends_now)
		return 0;
	grown = reallocarray(slices->profiles, slices->count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	slices->profiles = grown;
	err = collector_in_use(capture->service->collector, kind, &grown[slices->count]);
	if (!err)
		slices->count++;
	return err;
}

static void capture_render(struct capture *capture)
{
	int err = recorder_read(recorder_of(capture), capture->from_mono_ns, capture->to_mono_ns,
	                        &capture->slices);

	if (!err)
		err = add_state(capture);
	if (!err)
		err = read_known(capture);
	if (err) {
		capture_fail(capture, err);
		return;
	}
	read_facts(capture);
	capture->rendering = (struct rendering){
		.request = capture->request,
		.service = capture->service,
		.kind = sources[capture->ask.kind]->name,
		.key = key_of(capture),
		.plan = {.selection = &capture->ask.selection,
	                 .format = &capture->ask.format,
	                 .slices = capture->slices.profiles,
	                 .slice_count = capture->slices.count,
	                 .describe = capture_describe,
	                 .ctx = &capture->facts},
		.done = on_rendered,
	};
	capture->stage = STAGE_RENDERING;
	err = rendering_start(&capture->rendering);
	if (err)
		capture_fail(capture, err);
}

static void capture_wait(struct capture *capture, uint64_t boundary_mono_ns)
{
	int err = recorder_hold(recorder_of(capture), boundary_mono_ns);

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
	capture->ends_now = true;
	capture_render(capture);
}

/* Converts a wall-clock time to the monotonic clock; times before the boot become 0. */
static uint64_t mono_of_wall(uint64_t unix_ns)
{
	uint64_t offset_ns = clock_wall_ns() - clock_mono_ns();

	return unix_ns > offset_ns ? unix_ns - offset_ns : 0;
}

/* Called once the processes are known. */
static void capture_begin(struct capture *capture)
{
	const struct profile_query *ask = &capture->ask;

	capture->stage = STAGE_CUTTING;
	if (ask->range == RANGE_BETWEEN) {
		capture->from_mono_ns = mono_of_wall(ask->from_unix_ns);
		capture->to_mono_ns = mono_of_wall(ask->to_unix_ns);
		if (capture->to_mono_ns + NSEC_PER_SEC < clock_mono_ns()) {
			capture_render(capture);
			return;
		}
	}
	collector_cut(capture->service->collector, &capture->cut);
}

static void on_checked(struct pid_check *check, int err)
{
	struct capture *capture = capture_of_check(check);
	struct request *request = capture->request;

	if (request && !err && !request->head) {
		capture_begin(capture);
		return;
	}
	if (request && err == -EINVAL)
		request_refuse(request, &check->refusal);
	else if (request && err)
		request_fail(request, err);
	else if (request)
		request_answer_head(request, capture->ask.format.encoder->content_type);
	capture_end(capture);
}

int capture_start(struct request *request, const struct profile_query *ask)
{
	struct capture *capture = calloc(1, sizeof(*capture));
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
	capture->cut.patient = ask->range == RANGE_NEXT;
	capture->check = (struct pid_check){.service = capture->service,
	                                    .account = client_account(request->client),
	                                    .done = on_checked};
	capture->stage = STAGE_CHECKING;
	pid_check_start(&capture->check, &capture->ask.selection, capture->ask.kind);
	return 0;
}
