/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A watch has one job, which makes a reading, or seals the slice. While it is under way, what was
 * read belongs to it. The timer begins jobs; if the lane is full, it tries again.
 */
#include "capture/task_watch.h"

#include "base/aside.h"
#include "base/clock.h"
#include "base/lane.h"
#include "capture/task_samples.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#define PATIENCE_NS (500 * NSEC_PER_MSEC) /* with a reading; a busy host may not run it sooner */

enum {
	/* On average a reading is followed by so many times what it took. aside_run() would refuse
	 * a user whose calls take a twentieth of the time. */
	COSTS = 25,
	STANDS = 4,
};

/* A reading stands for STANDS mean intervals at most, or for this time if that is longer: on busy
 * CPUs the reader waits for its turn. */
#define STANDS_NS NSEC_PER_SEC

/* One reading. It may be left behind with a thread aside. */
struct task_reading {
	struct aside_call call;
	struct runtime_tasks_plan plan;
	struct runtime_version version;
	struct runtime_tasks tasks;
	int err;
	uint64_t at_ns;
};

struct task_watch {
	struct task_watches *watches;
	struct task_watch_ask ask;
	uv_timer_t timer;
	bool is_ending;
	bool is_under_way; /* the job */
	bool is_closed;    /* the timer */
	bool is_over;      /* done() was called, or will not be */

	/* Of the job while it is under way. */
	struct job job;
	struct task_samples samples;
	struct task_reading *next; /* that is to be made; NULL: there can be none */
	struct task_reading *last; /* the latest; NULL: nothing is known of the time since */
	uint64_t cost_ns;          /* of the latest */
	struct profile *slice;
	int err; /* of the slice */
};

static void free_reading(struct aside_call *call)
{
	struct task_reading *reading = (struct task_reading *)call;

	runtime_tasks_release(&reading->tasks);
	free(reading);
}

static void drop(struct task_reading **reading)
{
	if (*reading)
		free_reading(&(*reading)->call);
	*reading = NULL;
}

static struct task_watch *watch_of(struct job *job)
{
	return (struct task_watch *)((char *)job - offsetof(struct task_watch, job));
}

static uint64_t mean_ns(const struct task_watch *watch)
{
	const uint64_t least_ns = TASK_WATCH_MS * NSEC_PER_MSEC;

	return watch->cost_ns * COSTS > least_ns ? watch->cost_ns * COSTS : least_ns;
}

/* ---- the job -------------------------------------------------------------------------------- */

static void run_aside(struct aside_call *call)
{
	struct task_reading *reading = (struct task_reading *)call;

	reading->at_ns = clock_mono_ns();
	reading->err = runtime_tasks_read(&reading->plan, &reading->tasks);
}

/* Makes the reading; afterwards `next` is NULL unless it has succeeded. False: it was refused, so
 * that the latest one still stands. */
static bool make_reading(struct task_watch *watch)
{
	struct task_watches *watches = watch->watches;
	int err = watch->next ? aside_run(watches->aside, &watch->next->call, PATIENCE_NS) : 0;

	if (err == -EBUSY || err == -EAGAIN) {
		drop(&watch->next);
		return false;
	}
	watch->cost_ns = 0;
	if (err) {
		watch->next = NULL; /* left behind */
		watch->cost_ns = PATIENCE_NS;
	}
	if (!watch->next)
		return true;
	watch->cost_ns = watch->next->call.took_ns;
	if (watch->next->err || collector_check_tasks(watches->collector, &watch->next->plan))
		drop(&watch->next);
	return true;
}

/* Accounts for the time up to `until_ns`. */
static void account(struct task_watch *watch, uint64_t until_ns)
{
	struct task_samples *samples = &watch->samples;
	const struct task_reading *last = watch->last;
	uint64_t stands_ns = STANDS * mean_ns(watch);

	if (stands_ns < STANDS_NS)
		stands_ns = STANDS_NS;
	if (last)
		task_samples_add(samples, &last->version, &last->tasks,
		                 until_ns < last->at_ns + stands_ns ? until_ns
		                                                    : last->at_ns + stands_ns);
	/* The first reading stands for the time before it, too. */
	if (samples->readings || until_ns > samples->from_ns + stands_ns)
		task_samples_lose(samples, until_ns);
}

static void run_reading(struct job *job)
{
	struct task_watch *watch = watch_of(job);
	uint64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	bool is_made = make_reading(watch);
	account(watch, watch->next ? watch->next->at_ns : clock_mono_ns());
	if (!is_made)
		return;
	drop(&watch->last);
	watch->last = watch->next;
	watch->next = NULL;
	watch->cost_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
}

static void run_slice(struct job *job)
{
	struct task_watch *watch = watch_of(job);

	account(watch, watch->ask.to_mono_ns);
	task_samples_lose(&watch->samples, watch->ask.to_mono_ns);
	watch->err = task_samples_seal(&watch->samples, &watch->slice);
}

/* ---- the loop thread ------------------------------------------------------------------------ */

static void release(struct task_watch *watch)
{
	if (!watch->is_closed || watch->is_under_way)
		return;
	drop(&watch->next);
	drop(&watch->last);
	task_samples_release(&watch->samples);
	profile_unref(watch->slice);
	free(watch);
}

static void on_closed(uv_handle_t *timer)
{
	struct task_watch *watch = timer->data;

	watch->is_closed = true;
	release(watch);
}

/* A job that is under way ends by itself. */
static void close_watch(struct task_watch *watch)
{
	watch->is_over = true;
	shares_give(&watch->watches->taken, watch->ask.account, 1);
	uv_close((uv_handle_t *)&watch->timer, on_closed);
}

static void deliver(struct task_watch *watch)
{
	struct profile *slice = watch->slice;

	watch->slice = NULL;
	close_watch(watch);
	watch->ask.done(watch->ask.ctx, watch->err, slice);
}

/* Plans the next reading, if there can be one now. */
static void plan(struct task_watch *watch)
{
	struct collector *collector = watch->watches->collector;
	struct task_reading *reading = calloc(1, sizeof(*reading));

	drop(&watch->next);
	if (!reading)
		return;
	reading->version = runtimes_of(collector_runtimes(collector), watch->ask.pid);
	if (!reading->version.runtime ||
	    collector_plan_tasks(collector, watch->ask.pid, &reading->plan)) {
		free(reading);
		return;
	}
	reading->call = (struct aside_call){.owner = reading->plan.owner,
	                                    .pid = watch->ask.pid,
	                                    .run = run_aside,
	                                    .free = free_reading};
	watch->next = reading;
}

static void done(struct job *job);
static void on_timer(uv_timer_t *timer);

static void begin(struct task_watch *watch)
{
	if (!watch->is_ending)
		plan(watch);
	watch->job = (struct job){.run = run_reading, .done = done};
	if (watch->is_ending)
		watch->job.run = run_slice;
	watch->is_under_way = !lane_submit(watch->watches->lane, &watch->job);
	if (!watch->is_under_way)
		uv_timer_start(&watch->timer, on_timer, TASK_WATCH_MS, 0);
}

static void on_timer(uv_timer_t *timer)
{
	begin(timer->data);
}

/* Also called without a run, if the lane was stopped. */
static void done(struct job *job)
{
	struct task_watch *watch = watch_of(job);
	uint64_t mean_ms = mean_ns(watch) / NSEC_PER_MSEC;

	watch->is_under_way = false;
	if (watch->is_over)
		release(watch);
	else if (watch->slice || watch->err)
		deliver(watch);
	else if (watch->is_ending)
		begin(watch);
	else
		uv_timer_start(&watch->timer, on_timer, mean_ms / 2 + (uint64_t)random() % mean_ms,
		               0);
}

static bool take(struct shares *watches, uint64_t account)
{
	return account ? shares_take(watches, account, 1) : shares_take_left(watches, account, 1);
}

static int init(struct task_watch *watch, struct task_watches *watches,
                const struct task_watch_ask *ask)
{
	watch->watches = watches;
	watch->ask = *ask;
	watch->timer.data = watch;
	if (task_samples_begin(&watch->samples, ask->pid, ask->from_mono_ns, ask->to_mono_ns))
		return -ENOMEM;
	return uv_timer_init(watches->loop, &watch->timer);
}

int task_watch_start(struct task_watches *watches, const struct task_watch_ask *ask,
                     struct task_watch **ret_watch)
{
	struct task_watch *watch;

	if (!take(&watches->taken, ask->account))
		return -EBUSY;
	watch = calloc(1, sizeof(*watch));
	if (!watch || init(watch, watches, ask)) {
		shares_give(&watches->taken, ask->account, 1);
		if (watch)
			task_samples_release(&watch->samples);
		free(watch);
		return -ENOMEM;
	}
	begin(watch);
	*ret_watch = watch;
	return 0;
}

void task_watch_end(struct task_watch *watch)
{
	watch->is_ending = true;
	if (!watch->is_under_way)
		uv_timer_start(&watch->timer, on_timer, 0, 0);
}

void task_watch_cancel(struct task_watch *watch)
{
	close_watch(watch);
}
