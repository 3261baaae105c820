/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One job at a time on libuv's thread pool. libuv runs four at once and has no bound on what waits;
 * the queue here adds both order and the bound.
 */
#include "base/lane.h"

#include "base/clock.h"
#include "base/turns.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>

struct lane {
	uv_loop_t *loop;
	uv_work_t work;
	struct job *running;
	struct job *first, *last; /* queued, not running */
	size_t queued, max_queued;
	lane_user_fn *user_of; /* NULL: it takes no turns */
	struct turns turns;
	uint64_t started_ns;
	bool stopped;
};

struct lane *lane_new(uv_loop_t *loop, size_t max_queued)
{
	struct lane *lane = calloc(1, sizeof(*lane));

	if (!lane)
		return NULL;
	lane->loop = loop;
	lane->max_queued = max_queued;
	lane->work.data = lane;
	return lane;
}

void lane_take_turns(struct lane *lane, lane_user_fn *fn)
{
	lane->user_of = fn;
}

void lane_free(struct lane *lane)
{
	if (!lane)
		return;
	assert(!lane->running && !lane->first);
	free(lane);
}

static struct job *take_after(struct lane *lane, struct job *before)
{
	struct job **link = before ? &before->next : &lane->first, *job = *link;

	if (!job)
		return NULL;
	*link = job->next;
	if (lane->last == job)
		lane->last = before;
	lane->queued--;
	job->next = NULL;
	return job;
}

/* The first one of who had least. */
static struct job *take_next(struct lane *lane)
{
	struct job *before = NULL, *job = lane->first;
	uint64_t least, last_user;

	if (!job || !lane->user_of)
		return take_after(lane, NULL);
	last_user = lane->user_of(job);
	least = turns_used(&lane->turns, last_user);
	for (; least && job->next; job = job->next) {
		uint64_t user = lane->user_of(job->next), used;

		/* Mostly many of one user follow each other. */
		if (user == last_user)
			continue;
		last_user = user;
		used = turns_used(&lane->turns, user);
		if (used >= least)
			continue;
		least = used;
		before = job;
	}
	return take_after(lane, before);
}

static void note_turn(struct lane *lane)
{
	uint64_t now_ns = clock_mono_ns(), user;

	if (!lane->user_of)
		return;
	turns_age(&lane->turns, now_ns);
	user = lane->user_of(lane->running);
	if (user)
		turns_note(&lane->turns, user, now_ns - lane->started_ns);
}

static void on_work(uv_work_t *work)
{
	struct lane *lane = work->data;

	lane->running->run(lane->running);
}

static void start(struct lane *lane, struct job *job);

static void on_worked(uv_work_t *work, int status)
{
	struct lane *lane = work->data;
	struct job *job = lane->running, *next;

	(void)status; /* only uv_cancel() makes it non-zero */
	note_turn(lane);
	next = take_next(lane);
	lane->running = NULL;
	/* Before done(), so that the worker is not idle meanwhile, and because done() of the last
	 * job may free the lane. */
	if (next)
		start(lane, next);
	job->done(job);
}

static void start(struct lane *lane, struct job *job)
{
	lane->running = job;
	lane->started_ns = clock_mono_ns();
	int err = uv_queue_work(lane->loop, &lane->work, on_work, on_worked);
	assert(err == 0); /* it fails for a missing callback only */
	(void)err;
}

int lane_submit(struct lane *lane, struct job *job)
{
	if (lane->stopped)
		return -EAGAIN;
	job->next = NULL;
	if (!lane->running) {
		start(lane, job);
		return 0;
	}
	if (lane->queued >= lane->max_queued)
		return -EAGAIN;
	if (lane->last)
		lane->last->next = job;
	else
		lane->first = job;
	lane->last = job;
	lane->queued++;
	return 0;
}

void lane_stop(struct lane *lane)
{
	struct job *job;

	lane->stopped = true;
	while ((job = take_after(lane, NULL)))
		job->done(job);
}

size_t lane_length(const struct lane *lane)
{
	return lane->queued + (lane->running ? 1 : 0);
}
