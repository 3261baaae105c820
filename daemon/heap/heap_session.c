/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The states, one after the other. A job on the lane touches its session only, and nothing else
 * touches the session meanwhile.
 */
#include "heap/heap_session.h"

#include "base/bounds.h"
#include "base/buf.h"
#include "base/clock.h"
#include "heap/heap_pricing.h"
#include "proc/owner.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

/* How long calls are counted before the probes that sample are attached. */
static const uint64_t count_ns = 400 * NSEC_PER_MSEC;
/* How often the cost is checked, and how far it may exceed the budget: calls come in bursts. */
static const uint64_t check_ns = NSEC_PER_SEC;
static const double check_tolerance = 1.25;
/* For the call paths and addresses of one session. A program whose stacks are all different and
 * hundreds of frames deep reaches this after some ten thousand samples. */
static const size_t max_feed_bytes = 128 << 20;

static void run_job(struct job *job);
static void on_job(struct job *job);

struct heap_session *heap_session_new(struct heap_shared *shared, const struct heap_ask *ask,
                                      struct heap_watch *watch, uint32_t serial)
{
	struct heap_session *session = calloc(1, sizeof(*session));

	if (!session)
		return NULL;
	*session = (struct heap_session){
		.job = {.run = run_job, .done = on_job},
		.shared = shared,
		.watch = watch,
		.ask = *ask,
		.state = HEAP_WAITING,
		.slot = -1,
		.serial = serial,
		/* Opened now: later the pid may belong to another process. */
		.pidfd = (int)syscall(SYS_pidfd_open, ask->pid, 0),
	};
	session->result.figures.rate_bytes = ask->rate_bytes;
	session->result.figures.end_text = "";
	watch->session = session;
	return session;
}

void heap_session_free(struct heap_session *session)
{
	uprobes_detach(&session->links);
	heap_plan_release(&session->plan);
	heap_feed_free(session->feed);
	profile_unref(session->result.profile);
	closep(&session->pidfd);
	if (session->reader)
		reader_add_stats(session->reader, &session->shared->readers_gone);
	reader_free(session->reader);
	free(session);
}

static void enter(struct heap_session *session, enum heap_state state)
{
	session->state = state;
	session->state_mono_ns = clock_mono_ns();
}

static void start_job(struct heap_session *session, enum heap_state state)
{
	enter(session, state);
	session->err = 0;
	session->job_running = lane_submit(session->shared->lane, &session->job) == 0;
	/* The lane has stopped: what is attached is detached when the session is freed. */
	if (!session->job_running)
		session->state = HEAP_OVER;
}

/* On the lane. */
static int open_probes(struct heap_session *session)
{
	struct heap_shared *shared = session->shared;
	int err = 0;

	if (!shared->priced) {
		err = heap_pricing_measure(shared->kernel, &shared->price, &shared->have_sessions);
		if (err)
			return err == -EACCES ? err : -EOPNOTSUPP;
		shared->priced = true;
	}
	err = heap_plan_make(&session->plan, &(struct heap_plan_ask){
						     .aside = shared->aside,
						     .reader = session->reader,
						     .pid = session->ask.pid,
						     .slot = (uint8_t)session->slot,
						     .have_sessions = shared->have_sessions,
					     });
	/* The reader process has no more to do, and holds memory. */
	reader_rest(session->reader, 0);
	if (!err) {
		heap_guard_rest(&session->guard);
		err = heap_links_count(&session->links, &session->programs, &session->plan,
		                       session->ask.pid);
	}
	return err;
}

static void run_job(struct job *job)
{
	struct heap_session *session = (struct heap_session *)job;
	struct heap_shared *shared = session->shared;

	switch (session->state) {
	case HEAP_LOADING:
		session->err = heap_kernel_load(shared->kernel, &session->programs);
		break;
	case HEAP_OPENING:
		session->err = open_probes(session);
		break;
	case HEAP_ATTACHING:
		uprobes_detach(&session->links);
		session->err =
			heap_links_sample(&session->links, &session->programs, &session->plan,
		                          session->ask.pid, shared->have_sessions);
		break;
	case HEAP_CLOSING:
		uprobes_detach(&session->links);
		heap_kernel_forget(shared->kernel, session->serial);
		break;
	default:
		break;
	}
}

static void close_session(struct heap_session *session)
{
	heap_kernel_unwatch(session->shared->kernel, (u32)session->slot);
	if (session->holds_exec)
		heap_kernel_release_exec(session->shared->kernel);
	session->holds_exec = false;
	start_job(session, HEAP_CLOSING);
}

static bool process_is_gone(const struct heap_session *session)
{
	struct pollfd poll_fd = {.fd = session->pidfd, .events = POLLIN};

	return poll(&poll_fd, 1, 0) > 0;
}

/* Whether the process still belongs to the user who asks. Between the question and the probes it
 * may have become another user's, by running a set-user-ID program. Once it has ended, its pid says
 * nothing. */
static int check_owner(const struct heap_session *session)
{
	uint32_t owner;

	if (session->ask.owner == OWNER_UNKNOWN)
		return 0;
	owner = owner_read_sole(session->ask.pid);
	if (process_is_gone(session))
		return -ESRCH;
	return owner == session->ask.owner ? 0 : -EPERM;
}

static void explain(struct heap_session *session, int err)
{
	if (err == -EPERM && check_owner(session) == -EPERM)
		heap_session_refuse(
			session, err,
			"process %u no longer belongs to user %u alone: without the setting group, "
			"profd attaches probes to a process only for root and its owner",
			session->ask.pid, session->ask.owner);
	else
		heap_session_explain(session, err);
}

static int tell_target(const struct heap_session *session)
{
	uint64_t rate = session->ask.rate_bytes;
	struct heap_target target = {
		.pid = session->ask.pid,
		.serial = session->serial,
		.rate = rate < heap_max_rate ? rate : heap_max_rate,
	};

	_Static_assert(sizeof(target.allocators) == sizeof(session->plan.code), "one a file");
	memcpy(target.allocators, session->plan.code, sizeof(target.allocators));
	return heap_kernel_watch(session->shared->kernel, (u32)session->slot, &target);
}

/* After OPENING. */
static void opened(struct heap_session *session)
{
	const struct heap_plan *plan = &session->plan;
	struct heap_figures *figures = &session->result.figures;

	snprintf(figures->allocator, sizeof(figures->allocator), "%s", plan->allocator);
	snprintf(figures->file, sizeof(figures->file), "%s", plan->file);
	figures->sites = plan->sites;
	figures->unread = plan->unread;
	memcpy(figures->unread_file, plan->unread_file, sizeof(figures->unread_file));
	enter(session, HEAP_COUNTING);
	heap_guard_mark(&session->guard, &session->guard.started);
}

/* After COUNTING: the predicted cost, and whether it is allowed. */
static void counted(struct heap_session *session)
{
	struct heap_figures *figures = &session->result.figures;
	struct heap_reading reading;

	heap_guard_read(&session->guard, &session->guard.started, &reading);
	heap_guard_correct(&session->guard, &reading);
	figures->hits_per_second = reading.hits_per_second;
	figures->predicted_cost = reading.cost;
	figures->ns_per_hit = reading.hits_per_second > 0
	                              ? reading.cost * 1e9 / reading.hits_per_second
	                              : session->shared->price.emulated_ns;
	if (reading.cost > session->ask.budget && !session->ask.force) {
		_cleanup_(buf_release) struct buf text = BUF_INIT;

		heap_price_refusal(&text, session->ask.pid, figures->hits_per_second,
		                   figures->predicted_cost, session->ask.budget);
		heap_session_refuse(session, -EDQUOT, "%s", buf_text(&text));
		close_session(session);
		return;
	}
	/* Set again: the code ranges of the allocators are known by now. */
	int err = tell_target(session);
	if (err) {
		heap_session_explain(session, err);
		close_session(session);
		return;
	}
	start_job(session, HEAP_ATTACHING);
}

static void start_watching(struct heap_session *session)
{
	enter(session, HEAP_WATCHING);
	heap_guard_mark(&session->guard, &session->guard.started);
	session->guard.checked = session->guard.started;
}

/* After LOADING. */
static void open_session(struct heap_session *session)
{
	struct heap_shared *shared = session->shared;
	int err;

	heap_guard_open(&session->guard, shared->kernel, &shared->price, (u32)session->slot,
	                session->ask.pid);
	session->feed = heap_feed_new(&shared->tables, session->ask.pid);
	session->reader = reader_new(
		&(struct reader_program){READER_SELF, "malloc", MAX_HEAP_SEARCH_BYTES, 0});
	err = session->feed && session->reader ? 0 : -ENOMEM;
	if (!err)
		err = tell_target(session);
	if (!err)
		session->holds_exec = heap_kernel_hold_exec(shared->kernel) == 0;
	/* From here on, calls of exec are reported. */
	if (!err)
		err = check_owner(session);
	if (err) {
		explain(session, err);
		close_session(session);
		return;
	}
	start_job(session, HEAP_OPENING);
}

static void on_job(struct job *job)
{
	struct heap_session *session = (struct heap_session *)job;

	session->job_running = false;
	if (session->state == HEAP_CLOSING) {
		session->state = HEAP_OVER;
		return;
	}
	if (session->ended && (!session->err || session->err == -ECANCELED))
		session->err = -ESRCH;
	/* Checked again now that the probes are in the process. */
	if (!session->err && session->state != HEAP_LOADING)
		session->err = check_owner(session);
	if (session->err)
		explain(session, session->err);
	if (session->err || !session->watch)
		close_session(session);
	else if (session->state == HEAP_LOADING)
		open_session(session);
	else if (session->state == HEAP_OPENING)
		opened(session);
	else
		start_watching(session);
}

void heap_session_open(struct heap_session *session, int slot)
{
	session->slot = slot;
	if (session->pidfd >= 0) {
		start_job(session, HEAP_LOADING);
		return;
	}
	heap_session_explain(session, -ESRCH);
	close_session(session);
}

static void check_cost(struct heap_session *session, uint64_t now)
{
	struct heap_guard *guard = &session->guard;
	struct heap_reading reading;

	if (session->ask.force || now - guard->checked.mono_ns < check_ns)
		return;
	heap_guard_read(guard, &guard->checked, &reading);
	heap_guard_mark(guard, &guard->checked);
	if (reading.cost > session->ask.budget * check_tolerance)
		heap_session_end(session, HEAP_END_budget);
}

void heap_session_tick(struct heap_session *session, uint64_t now)
{
	uint64_t since = now - session->state_mono_ns;

	if (session->state != HEAP_COUNTING && session->state != HEAP_WATCHING)
		return;
	if (process_is_gone(session))
		heap_session_end(session, HEAP_END_exit);
	else if (session->state == HEAP_COUNTING && since >= count_ns)
		counted(session);
	else if (session->state == HEAP_WATCHING && since >= session->ask.length_ns)
		heap_session_end(session, HEAP_END_full);
	else if (session->state == HEAP_WATCHING &&
	         heap_feed_memory(session->feed) > max_feed_bytes)
		heap_session_end(session, HEAP_END_memory);
	else if (session->state == HEAP_WATCHING)
		check_cost(session, now);
}

void heap_session_end(struct heap_session *session, enum heap_end end)
{
	switch (session->state) {
	case HEAP_WAITING:
		session->state = HEAP_OVER;
		break;
	case HEAP_WATCHING:
		heap_session_note(session, end);
		close_session(session);
		break;
	case HEAP_COUNTING:
		session->ended = true;
		heap_session_explain(session, -ESRCH);
		close_session(session);
		break;
	default:
		/* The running job is waited for; on_job() goes on. */
		session->ended = true;
		if (session->state == HEAP_OPENING)
			reader_cancel(session->reader);
	}
}
