/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One job at a time on libuv's thread pool. libuv runs four at once and has no bound on what waits;
 * the queue here adds both order and the bound.
 */
#include "base/lane.h"

#include "base/clock.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <utlist.h>

struct lane {
	uv_loop_t *loop;
	uv_work_t work;
	struct job *running;
	uint64_t started_ns;      /* it was */
	struct job *first, *last; /* queued, not running */
	size_t queued, max_queued;
	bool stopped;
	const char *name;
	struct lane *prev, *next; /* in lanes */
};

static struct lane *lanes;

struct lane *lane_new(uv_loop_t *loop, const char *name, size_t max_queued)
{
	struct lane *lane = calloc(1, sizeof(*lane));

	if (!lane)
		return NULL;
	lane->loop = loop;
	lane->max_queued = max_queued;
	lane->name = name;
	lane->work.data = lane;
	DL_APPEND(lanes, lane);
	return lane;
}

void lane_free(struct lane *lane)
{
	if (!lane)
		return;
	assert(!lane->running && !lane->first);
	DL_DELETE(lanes, lane);
	free(lane);
}

static struct job *take_first(struct lane *lane)
{
	struct job *job = lane->first;

	if (!job)
		return NULL;
	lane->first = job->next;
	if (!lane->first)
		lane->last = NULL;
	lane->queued--;
	job->next = NULL;
	return job;
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
	struct job *job = lane->running;
	struct job *next = take_first(lane);

	(void)status; /* only uv_cancel() makes it non-zero */
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
	while ((job = take_first(lane)))
		job->done(job);
}

size_t lane_length(const struct lane *lane)
{
	return lane->queued + (lane->running ? 1 : 0);
}

void lanes_each(void (*fn)(const char *name, uint64_t running_ns, void *ctx), void *ctx)
{
	uint64_t now_ns = clock_mono_ns();

	for (const struct lane *lane = lanes; lane; lane = lane->next)
		fn(lane->name, lane->running ? now_ns - lane->started_ns : 0, ctx);
}
