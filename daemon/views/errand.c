/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Suspends the request, gathers data, runs the job and answers.
 */
#include "views/errand.h"

#include "http/loop_time.h"

#include <errno.h>
#include <stddef.h>

static struct errand *errand_of(struct job *job)
{
	return (struct errand *)((char *)job - offsetof(struct errand, turn.job));
}

static void errand_end(struct errand *errand)
{
	buf_release(&errand->body);
	errand->free(errand);
}

/* Worker thread. */
static void run_errand(struct job *job)
{
	struct errand *errand = errand_of(job);

	errand->error = errand->run(errand);
	if (!errand->error)
		errand->error = buf_error(&errand->body);
}

static void errand_fail(struct errand *errand, int err)
{
	if (errand->request && err == -EINVAL)
		request_refuse(errand->request, &errand->refusal);
	else if (errand->request)
		request_fail(errand->request, err);
	errand_end(errand);
}

static void on_run(struct job *job)
{
	struct errand *errand = errand_of(job);

	if (errand->error) {
		errand_fail(errand, errand->error);
		return;
	}
	if (errand->request)
		request_answer(errand->request, errand->content_type, &errand->body);
	errand_end(errand);
}

static struct lane *lane_of(const struct errand *errand)
{
	return errand->lane ? errand->lane : errand->request->service->render;
}

/* The caller is about to answer or free the request. A job that runs goes on. */
static void on_abandoned(void *owner)
{
	struct errand *errand = owner;
	struct lane *lane = lane_of(errand);

	errand->request = NULL;
	if (lane_cancel_turn(lane, &errand->turn))
		errand_end(errand);
}

static int gather(struct errand *errand)
{
	int err = lane_has_room(lane_of(errand), errand->turn.account);
	uint64_t begun_ns;

	if (!err && errand->gather)
		err = loop_time_begin(errand->request, &begun_ns);
	if (err || !errand->gather)
		return err;
	err = errand->gather(errand, errand->request->service);
	loop_time_end(errand->request, begun_ns);
	return err;
}

int errand_park(struct errand *errand, struct request *request)
{
	int err;

	errand->request = request;
	errand->error = -ECANCELED;
	errand->body.max = request_answer_max(request);
	errand->turn.job = (struct job){.run = run_errand, .done = on_run};
	errand->turn.account = client_account(request->client);
	err = request_park(request, errand, on_abandoned);
	if (!err)
		err = gather(errand);
	if (err)
		errand_fail(errand, err);
	return err;
}

void errand_submit(struct errand *errand)
{
	int err;

	if (!errand->request) {
		errand_end(errand);
		return;
	}
	err = lane_submit_turn(lane_of(errand), &errand->turn);
	if (err)
		errand_fail(errand, err);
}

void errand_start(struct errand *errand, struct request *request)
{
	if (!errand_park(errand, request))
		errand_submit(errand);
}
