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

/* Of the queue, one part in so many is not for accounts. */
enum { KEPT_PART = 8 };

struct lane {
	uv_loop_t *loop;
	uv_work_t work;
	struct job *running;
	uint64_t started_ns;      /* it was */
	struct job *first, *last; /* queued, not running */
	/* Queued turns, by round. A job of an account is of the round after that of its last one
	 * before, so that there is one of each account in a round. */
	struct job *turns;
	uint64_t round;   /* of the turn that was started last */
	uint64_t account; /* of the turn that runs; if one does */
	bool runs_turn;
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
	assert(!lane->running && !lane->first && !lane->turns);
	DL_DELETE(lanes, lane);
	free(lane);
}

static struct turn *turn_of(struct job *job)
{
	return (struct turn *)job;
}

static void begin_turn(struct lane *lane, const struct turn *turn)
{
	lane->round = turn->round;
	lane->account = turn->account;
	lane->runs_turn = true;
}

static struct job *take_first(struct lane *lane)
{
	struct job *job = lane->first ? lane->first : lane->turns;

	lane->runs_turn = false;
	if (!job)
		return NULL;
	if (lane->first) {
		lane->first = job->next;
		if (!lane->first)
			lane->last = NULL;
	} else {
		lane->turns = job->next;
		begin_turn(lane, turn_of(job));
	}
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

/* How many are queued of its account; and its round. */
static size_t find_round(const struct lane *lane, struct turn *turn)
{
	bool runs = lane->runs_turn && lane->account == turn->account;
	size_t has = 0;

	turn->round = lane->round + runs;
	for (struct job *job = lane->turns; job; job = job->next) {
		if (turn_of(job)->account != turn->account)
			continue;
		turn->round = turn_of(job)->round + 1;
		has++;
	}
	return has;
}

static void insert_turn(struct lane *lane, struct turn *turn)
{
	struct job **link = &lane->turns;

	while (*link && turn_of(*link)->round <= turn->round)
		link = &(*link)->next;
	turn->job.next = *link;
	*link = &turn->job;
	lane->queued++;
}

int lane_submit_turn(struct lane *lane, struct turn *turn)
{
	size_t max = lane->max_queued, has = find_round(lane, turn);

	if (lane->stopped)
		return -EAGAIN;
	if (!lane->running) {
		turn->job.next = NULL;
		begin_turn(lane, turn);
		start(lane, &turn->job);
		return 0;
	}
	if (turn->account)
		max -= max / KEPT_PART;
	if (lane->queued >= max)
		return -EAGAIN;
	if (turn->account && has >= max - lane->queued)
		return -EDQUOT;
	insert_turn(lane, turn);
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
