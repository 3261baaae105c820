/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Parks, runs, answers.
 */
#include "http/errand.h"

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

static void on_run(struct job *job)
{
	struct errand *errand = errand_of(job);

	if (errand->request && !errand->error)
		request_answer(errand->request, errand->content_type, &errand->body);
	else if (errand->request && errand->error == -EINVAL)
		request_refuse(errand->request, &errand->refusal);
	else if (errand->request)
		request_fail(errand->request, errand->error);
	errand_end(errand);
}

/* The request is about to be answered by somebody else, or freed; the lane still has the job. */
static void on_abandoned(void *owner)
{
	struct errand *errand = owner;

	errand->request = NULL;
}

int errand_park(struct errand *errand, struct request *request)
{
	int err = request_park(request, errand, on_abandoned);

	if (err) {
		request_fail(request, err);
		errand_end(errand);
		return err;
	}
	errand->request = request;
	errand->error = -ECANCELED;
	errand->body.max = request->service->policy->answer_bytes;
	errand->turn.job = (struct job){.run = run_errand, .done = on_run};
	errand->turn.account = client_account(request->client);
	return 0;
}

void errand_submit(struct errand *errand)
{
	const struct service *service;
	int err;

	if (!errand->request) {
		errand_end(errand);
		return;
	}
	service = errand->request->service;
	err = lane_submit_turn(errand->lane ? errand->lane : service->render, &errand->turn);
	if (!err)
		return;
	request_fail(errand->request, err);
	errand_end(errand);
}

void errand_start(struct errand *errand, struct request *request)
{
	if (!errand_park(errand, request))
		errand_submit(errand);
}
