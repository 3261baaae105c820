/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Three lists under one lock: jobs that wait, jobs that run, jobs that have ended. Threads move
 * jobs from one list to the next; the loop thread takes them off the last and checks deadlines.
 */
#include "base/crew.h"

#include "base/accounts.h"
#include "base/clock.h"
#include "base/shares.h"
#include "base/thread.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include <utlist.h>

enum {
	STACK_BYTES = 256 * 1024,
};

/* A job that runs for longer than this is slow. The loop thread also checks for slow jobs at this
 * interval. */
static const uint64_t slow_ns = 20 * NSEC_PER_MSEC;
/* Deadlines are checked every look_ns. Jobs that end within together_ns of the last delivery are
 * delivered together. */
static const uint64_t look_ns = 100 * NSEC_PER_MSEC, together_ns = 2 * NSEC_PER_MSEC;
/* crew_stop() waits this long for jobs that still run. */
static const uint64_t stop_ns = 50 * NSEC_PER_MSEC;

struct crew {
	struct crew_config config;
	/* Not a uv_async_t: for one, libuv makes the loop spin until the sending thread continues,
	 * and the loop may have just taken that thread's CPU. */
	int ended_fd;
	uv_poll_t ended_poll;
	uv_timer_t timer;
	bool stopped;
	uint64_t delivered_ns;
	struct shares shares; /* of the queue */

	pthread_mutex_t lock; /* everything below */
	pthread_cond_t work, end;
	struct crew_job *queue, *running, *ended;
	struct crew_stats stats;
	uint32_t threads, idle, slow; /* slow: running jobs that are slow */
};

static uint32_t owner_of(const struct crew_job *job)
{
	return account_of(job->owner);
}

/* Whether no running job of the same owner prevents this job from running. */
static bool may_run(const struct crew *crew, const struct crew_job *job)
{
	const struct crew_job *other;
	uint32_t owner = owner_of(job), slow = 0;

	for (other = crew->running; other; other = other->next) {
		if (owner_of(other) != owner)
			continue;
		if (other->device == job->device)
			return false;
		slow += other->is_slow;
	}
	/* What gives back must not wait for what hangs elsewhere: its owner would take all there
	 * is. */
	return owner == 0 || job->gives_back || slow < CREW_SLOW_EACH;
}

static struct crew_job *take_job(struct crew *crew)
{
	struct crew_job *job;

	for (job = crew->queue; job; job = job->next) {
		if (!may_run(crew, job))
			continue;
		DL_DELETE(crew->queue, job);
		crew->stats.queued--;
		job->started_ns = clock_mono_ns();
		DL_APPEND(crew->running, job);
		return job;
	}
	return NULL;
}

/* Whether there is one thread too many, because a thread has returned from a slow job. */
static bool is_spare(const struct crew *crew)
{
	return crew->threads - crew->slow > CREW_THREADS;
}

static void end_job(struct crew *crew, struct crew_job *job)
{
	DL_DELETE(crew->running, job);
	crew->slow -= job->is_slow;
	crew->stats.hanging -= job->hangs;
	crew->stats.done++;
	DL_APPEND(crew->ended, job);
	pthread_cond_broadcast(&crew->end);
	/* Jobs that waited for this owner or device may run now. */
	pthread_cond_broadcast(&crew->work);
	eventfd_write(crew->ended_fd, 1);
}

static void *work(void *arg)
{
	struct crew *crew = arg;

	pthread_mutex_lock(&crew->lock);
	while (!crew->stopped && !is_spare(crew)) {
		struct crew_job *job = take_job(crew);

		if (!job) {
			crew->idle++;
			pthread_cond_wait(&crew->work, &crew->lock);
			crew->idle--;
			continue;
		}
		pthread_mutex_unlock(&crew->lock);
		job->run(job);
		pthread_mutex_lock(&crew->lock);
		/* After crew_stop() nothing watches the handles. */
		if (crew->stopped) {
			DL_DELETE(crew->running, job);
			DL_APPEND(crew->ended, job);
			break;
		}
		end_job(crew, job);
	}
	crew->threads--;
	pthread_cond_broadcast(&crew->end);
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

static void wake_thread(struct crew *crew)
{
	if (crew->idle)
		pthread_cond_signal(&crew->work);
	else if (crew->threads - crew->slow < CREW_THREADS &&
	         !thread_start_detached(STACK_BYTES, work, crew))
		crew->threads++;
}

static void on_timer(uv_timer_t *timer);

/* How long until running or waiting jobs have to be looked at again; 0: there are none. */
static uint64_t next_look_ns(struct crew *crew)
{
	const struct crew_job *job;
	bool soon;

	pthread_mutex_lock(&crew->lock);
	soon = crew->queue;
	for (job = crew->running; job && !soon; job = job->next)
		soon = !job->is_slow;
	bool busy = crew->queue || crew->running || crew->ended;
	pthread_mutex_unlock(&crew->lock);
	return soon ? slow_ns : busy ? look_ns : 0;
}

/* Starts no timer when no job is left, so that an idle crew does not wake the loop. */
static void look_again(struct crew *crew)
{
	uint64_t after_ns = crew->stopped ? 0 : next_look_ns(crew);

	if (after_ns)
		uv_timer_start(&crew->timer, on_timer, after_ns / NSEC_PER_MSEC, 0);
}

static bool is_late(const struct crew *crew, uint64_t since_ns, uint64_t now_ns)
{
	return now_ns - since_ns >= crew->config.deadline_ns;
}

static void find_slow(struct crew *crew, uint64_t now_ns)
{
	struct crew_job *job;

	for (job = crew->running; job; job = job->next) {
		if (!job->is_slow && now_ns - job->started_ns >= slow_ns &&
		    crew->slow < CREW_SLOW_MAX) {
			job->is_slow = true;
			crew->slow++;
			wake_thread(crew);
		}
		if (job->is_slow && !job->hangs && is_late(crew, job->started_ns, now_ns)) {
			job->hangs = true;
			crew->stats.hanging++;
			crew->stats.hung++;
		}
	}
}

/* Whether what prevents the job from running hangs. */
static bool is_behind_hung(const struct crew *crew, const struct crew_job *job)
{
	const struct crew_job *other;
	bool any_hangs = false;

	for (other = crew->running; other; other = other->next) {
		if (owner_of(other) != owner_of(job))
			continue;
		if (other->device == job->device)
			return other->hangs;
		any_hangs |= other->hangs;
	}
	return any_hangs && !may_run(crew, job);
}

/* Removes the jobs from the queue that have waited for too long behind a job that hangs. Those that
 * give back stay, or what they hold would be lost. */
static struct crew_job *take_stuck(struct crew *crew, uint64_t now_ns)
{
	struct crew_job *job, *next, *stuck = NULL;

	for (job = crew->queue; job; job = next) {
		next = job->next;
		/* Not in order of time: those that give back come first. */
		if (job->gives_back || !is_late(crew, job->submitted_ns, now_ns) ||
		    !is_behind_hung(crew, job))
			continue;
		DL_DELETE(crew->queue, job);
		crew->stats.queued--;
		crew->stats.timed_out++;
		DL_APPEND(stuck, job);
	}
	return stuck;
}

static void tell(struct crew *crew, struct crew_job *jobs, int err)
{
	struct crew_job *job, *next;

	for (job = jobs; job; job = next) {
		next = job->next;
		shares_give(&crew->shares, owner_of(job), 1);
		job->done(job, err);
	}
}

static void deliver(struct crew *crew)
{
	uint64_t now_ns = clock_mono_ns();
	struct crew_job *ended, *stuck;

	pthread_mutex_lock(&crew->lock);
	find_slow(crew, now_ns);
	stuck = take_stuck(crew, now_ns);
	ended = crew->ended;
	crew->ended = NULL;
	pthread_mutex_unlock(&crew->lock);
	tell(crew, ended, 0);
	tell(crew, stuck, -ETIMEDOUT);
	crew->delivered_ns = now_ns;
	if (crew->config.delivered && (ended || stuck))
		crew->config.delivered(crew->config.ctx);
}

static void on_timer(uv_timer_t *timer)
{
	struct crew *crew = timer->data;

	deliver(crew);
	look_again(crew);
}

static void on_ended(uv_poll_t *poll, int status, int events)
{
	struct crew *crew = poll->data;
	eventfd_t times;

	(void)status;
	(void)events;
	if (crew->stopped)
		return;
	eventfd_read(crew->ended_fd, &times);
	if (clock_mono_ns() - crew->delivered_ns < together_ns)
		uv_timer_start(&crew->timer, on_timer, together_ns / NSEC_PER_MSEC, 0);
	else
		deliver(crew);
}

static int init_sync(struct crew *crew)
{
	int err = -pthread_mutex_init(&crew->lock, NULL);

	return err ?: thread_cond_init(&crew->work) ?: thread_cond_init(&crew->end);
}

static int watch_ended(struct crew *crew)
{
	int err;

	crew->ended_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (crew->ended_fd < 0)
		return -errno;
	err = uv_poll_init(crew->config.loop, &crew->ended_poll, crew->ended_fd);
	if (err) {
		close(crew->ended_fd);
		return err;
	}
	crew->ended_poll.data = crew;
	uv_poll_start(&crew->ended_poll, UV_READABLE, on_ended);
	return 0;
}

int crew_new(const struct crew_config *config, struct crew **ret_crew)
{
	struct crew *crew = calloc(1, sizeof(*crew));
	int err;

	if (!crew)
		return -ENOMEM;
	crew->config = *config;
	crew->shares.whole = CREW_QUEUE;
	err = init_sync(crew);
	if (!err)
		err = watch_ended(crew);
	if (err) {
		free(crew);
		return err;
	}
	uv_timer_init(config->loop, &crew->timer);
	crew->timer.data = crew;
	*ret_crew = crew;
	return 0;
}

bool crew_leaves_threads(struct crew *crew)
{
	pthread_mutex_lock(&crew->lock);
	bool leaves = crew->threads > 0;
	pthread_mutex_unlock(&crew->lock);
	return leaves;
}

void crew_free(struct crew *crew)
{
	if (!crew)
		return;
	shares_clear(&crew->shares);
	/* A thread that hangs uses the crew when it returns, if it ever does. */
	if (crew->threads)
		return;
	pthread_cond_destroy(&crew->work);
	pthread_cond_destroy(&crew->end);
	pthread_mutex_destroy(&crew->lock);
	free(crew);
}

int crew_submit(struct crew *crew, struct crew_job *job)
{
	bool has_room =
		!crew->stopped && (job->gives_back ? shares_add(&crew->shares, owner_of(job), 1)
	                                           : shares_take(&crew->shares, owner_of(job), 1));

	if (!has_room) {
		crew->stats.refused++;
		return -EAGAIN;
	}
	job->submitted_ns = clock_mono_ns();
	job->is_slow = job->hangs = false;
	pthread_mutex_lock(&crew->lock);
	if (job->gives_back)
		DL_PREPEND(crew->queue, job);
	else
		DL_APPEND(crew->queue, job);
	crew->stats.queued++;
	wake_thread(crew);
	pthread_mutex_unlock(&crew->lock);
	if (!uv_is_active((uv_handle_t *)&crew->timer))
		look_again(crew);
	return 0;
}

static bool is_awaited(const struct crew *crew, uint64_t since_ns)
{
	const struct crew_job *job;

	/* The last job of the queue was submitted last. */
	if (crew->queue && crew->queue->prev->submitted_ns >= since_ns)
		return true;
	for (job = crew->running; job; job = job->next)
		if (job->submitted_ns >= since_ns)
			return true;
	return false;
}

/* Waits for a signal of `end`; false once `until_ns` has passed. Called with the lock held. */
static bool wait_until(struct crew *crew, uint64_t until_ns)
{
	return thread_cond_wait(&crew->end, &crew->lock, until_ns);
}

void crew_settle(struct crew *crew, uint64_t patience_ns)
{
	uint64_t now_ns = clock_mono_ns();
	uint64_t since_ns = now_ns > patience_ns ? now_ns - patience_ns : 0;

	pthread_mutex_lock(&crew->lock);
	while (is_awaited(crew, since_ns) && wait_until(crew, now_ns + patience_ns))
		;
	pthread_mutex_unlock(&crew->lock);
	deliver(crew);
}

void crew_stop(struct crew *crew)
{
	uint64_t until_ns = clock_mono_ns() + stop_ns;
	struct crew_job *queue, *ended;

	pthread_mutex_lock(&crew->lock);
	crew->stopped = true;
	pthread_cond_broadcast(&crew->work);
	while (crew->threads && wait_until(crew, until_ns))
		;
	queue = crew->queue;
	ended = crew->ended;
	crew->queue = crew->ended = NULL;
	pthread_mutex_unlock(&crew->lock);
	tell(crew, ended, 0);
	tell(crew, queue, -ECANCELED);
	uv_close((uv_handle_t *)&crew->ended_poll, NULL);
	close(crew->ended_fd);
	uv_close((uv_handle_t *)&crew->timer, NULL);
}

void crew_get_stats(struct crew *crew, struct crew_stats *ret_stats)
{
	pthread_mutex_lock(&crew->lock);
	*ret_stats = crew->stats;
	pthread_mutex_unlock(&crew->lock);
}
