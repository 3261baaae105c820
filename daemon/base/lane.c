/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One job at a time on libuv's thread pool. libuv runs four jobs at once and has no bound on its
 * queue; the queue here adds both the order and the bound.
 */
#include "base/lane.h"

#include "base/clock.h"
#include "base/turns.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <utlist.h>

/* One part in KEPT_PART of the queue is kept for jobs without an account. */
enum { KEPT_PART = 8 };

struct lane {
	uv_loop_t *loop;
	uv_work_t work;
	struct job *running;
	uint64_t started_ns;      /* of the running job */
	struct job *first, *last; /* queued, not running */
	lane_user_fn *user_of;    /* NULL: jobs are taken in the order of submission */
	struct turns used;        /* lane time used by each user */
	/* Queued turns, sorted by round. A turn gets the round after that of the account's previous
	 * turn, so that each account has at most one turn in a round. */
	struct job *turns;
	uint64_t round;   /* of the turn that was started last */
	uint64_t account; /* of the running turn; valid while runs_turn */
	bool runs_turn;
	size_t queued, max_queued;
	bool stopped;
	const char *name;
	struct lane *prev, *next; /* in lanes */
};

static struct lane *lanes;

#define LANE(name, text) text,
static const char *const names[WORK_LANE_COUNT] = {WORK_LANES(LANE)};
#undef LANE

void lanes_set_threads(void)
{
	char count[16];

	snprintf(count, sizeof(count), "%d", WORK_LANE_COUNT + 1);
	setenv("UV_THREADPOOL_SIZE", count, 0);
}

struct lane *lane_new(uv_loop_t *loop, enum work_lane which, size_t max_queued)
{
	struct lane *lane = calloc(1, sizeof(*lane));

	if (!lane)
		return NULL;
	lane->loop = loop;
	lane->max_queued = max_queued;
	lane->name = names[which];
	lane->work.data = lane;
	DL_APPEND(lanes, lane);
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

static struct job *take_after(struct lane *lane, struct job *before)
{
	struct job **link = before ? &before->next : &lane->first, *job = *link;

	*link = job->next;
	if (lane->last == job)
		lane->last = before;
	return job;
}

/* Takes the first job of the user that used the least time. */
static struct job *take_fairly(struct lane *lane)
{
	struct job *before = NULL, *job = lane->first;
	uint64_t last_user = lane->user_of(job), least = turns_used(&lane->used, last_user);

	for (; least && job->next; job = job->next) {
		uint64_t user = lane->user_of(job->next), used;

		/* Usually many jobs of one user come one after the other. */
		if (user == last_user)
			continue;
		last_user = user;
		used = turns_used(&lane->used, user);
		if (used >= least)
			continue;
		least = used;
		before = job;
	}
	return take_after(lane, before);
}

static struct job *take_turn(struct lane *lane)
{
	struct job *job = lane->turns;

	lane->turns = job->next;
	begin_turn(lane, turn_of(job));
	return job;
}

static struct job *take_next(struct lane *lane)
{
	struct job *job;

	lane->runs_turn = false;
	if (!lane->first && !lane->turns)
		return NULL;
	if (!lane->first)
		job = take_turn(lane);
	else
		job = lane->user_of ? take_fairly(lane) : take_after(lane, NULL);
	lane->queued--;
	job->next = NULL;
	return job;
}

static void note_used(struct lane *lane)
{
	uint64_t now_ns = clock_mono_ns(), user;

	if (!lane->user_of || lane->runs_turn)
		return;
	turns_age(&lane->used, now_ns);
	user = lane->user_of(lane->running);
	if (user)
		turns_note(&lane->used, user, now_ns - lane->started_ns);
}

static void on_work(uv_work_t *work)
{
	struct lane *lane = work->data;

	lane->running->run(lane->running);
}

static void start(struct lane *lane, struct job *job);

static void give_up_late(struct lane *lane)
{
	uint64_t now_ns = clock_mono_ns();
	struct job **link = &lane->turns, *late = NULL, *job;

	while ((job = *link)) {
		if (!turn_of(job)->account ||
		    now_ns - turn_of(job)->queued_mono_ns < LANE_PATIENCE_NS) {
			link = &job->next;
			continue;
		}
		*link = job->next;
		lane->queued--;
		LL_PREPEND(late, job);
	}
	while ((job = late)) {
		late = job->next;
		job->done(job);
	}
}

static void on_worked(uv_work_t *work, int status)
{
	struct lane *lane = work->data;
	struct job *job = lane->running, *next;

	(void)status; /* only uv_cancel() makes it non-zero */
	note_used(lane);
	give_up_late(lane);
	next = take_next(lane);
	lane->running = NULL;
	/* The next job starts before done(), so that the worker is not idle meanwhile, and because
	 * done() of the last job may free the lane. */
	if (next)
		start(lane, next);
	job->done(job);
}

static void start(struct lane *lane, struct job *job)
{
	lane->running = job;
	lane->started_ns = clock_mono_ns();
	int err = uv_queue_work(lane->loop, &lane->work, on_work, on_worked);
	assert(err == 0); /* it fails only without a callback */
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

/* Sets the turn's round and returns how many turns of its account are queued. */
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

/* Checks for room for one more turn of an account that has `has` turns queued. */
static int check_room(const struct lane *lane, uint64_t account, size_t has)
{
	size_t max = lane->max_queued;

	if (lane->stopped)
		return -EAGAIN;
	if (!lane->running)
		return 0;
	if (account)
		max -= max / KEPT_PART;
	if (lane->queued >= max)
		return -EAGAIN;
	return account && has >= max - lane->queued ? -EDQUOT : 0;
}

int lane_has_room(const struct lane *lane, uint64_t account)
{
	struct turn turn = {.account = account};

	return check_room(lane, account, find_round(lane, &turn));
}

int lane_submit_turn(struct lane *lane, struct turn *turn)
{
	int err = check_room(lane, turn->account, find_round(lane, turn));

	if (err)
		return err;
	turn->queued_mono_ns = clock_mono_ns();
	if (lane->running) {
		insert_turn(lane, turn);
		return 0;
	}
	turn->job.next = NULL;
	begin_turn(lane, turn);
	start(lane, &turn->job);
	return 0;
}

bool lane_cancel_turn(struct lane *lane, struct turn *turn)
{
	struct job **link = &lane->turns;

	while (*link && *link != &turn->job)
		link = &(*link)->next;
	if (!*link)
		return false;
	*link = turn->job.next;
	lane->queued--;
	return true;
}

/* A turn that runs has no later round than any new one. */
void lane_hasten_turn(struct lane *lane, struct turn *turn, uint64_t account)
{
	struct turn own = {.account = account};
	size_t has = find_round(lane, &own);

	if (own.round >= turn->round || check_room(lane, account, has) ||
	    !lane_cancel_turn(lane, turn))
		return;
	turn->account = account;
	turn->round = own.round;
	insert_turn(lane, turn);
}

void lane_stop(struct lane *lane)
{
	struct job *job;

	lane->stopped = true;
	while ((job = take_next(lane)))
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
