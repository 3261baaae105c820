/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The sessions, the timer that drives them, and the ring buffer that delivers their events.
 */
#include "heap/heaps.h"

#include "base/bounds.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/shares.h"
#include "heap/heap_session.h"
#include "heap/heap_standing.h"
#include "heap/heaps_life.h"
#include "ingest/event_ring.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	TICK_MS = 50,       /* while a profile is taken */
	SLOW_TICK_MS = 500, /* while there are only processes that report their own allocations */
	EXPIRE_TICKS = 20,  /* in slow ticks */
	MAX_JOBS = 2 * MAX_OBJECTS, /* files to be read, and one job for each session */
	/* The ring is read in this many pieces, and the loop does other work between them: reading
	 * a full ring takes some 80 ms. */
	PIECES = 16,
};

_Static_assert((int)MAX_HEAP_SESSIONS == (int)HEAP_SESSIONS, "a slot for each session");

struct heaps {
	struct heaps_config config;
	struct heap_kernel kernel;
	struct gpu_kernel gpus; /* for their static probes */
	struct heap_shared shared;
	struct reader *reader; /* for static probes; the lane's */
	struct heaps_stats stats;
	struct event_ring ring;
	uint32_t pieces; /* of the ring, read one soon after the other */
	struct heap_standing *standing;
	uv_timer_t tick;
	uint64_t tick_ms; /* 0: the timer is stopped */
	uint32_t ticks;
	bool stopped;
	uint32_t last_serial;
	struct heap_session *sessions;
	struct shares slots; /* by user who asks */
};

static struct heap_session *find_serial(struct heaps *heaps, uint32_t serial)
{
	struct heap_session *session = heaps->sessions;

	while (session && session->serial != serial)
		session = session->next;
	return session;
}

/* Events of sessions that no client waits for any more are dropped. */
static void take_event(void *ctx, const void *bytes, size_t len)
{
	const struct heap_event *event = bytes;
	struct heaps *heaps = ctx;
	struct heap_session *session;

	if (len < sizeof(*event) || len < sizeof(*event) + event->words * sizeof(uint64_t))
		return;
	session = find_serial(heaps, event->serial);
	if (!event->serial)
		heap_standing_take(heaps->standing, event, (const uint64_t *)(event + 1));
	else if (session && session->feed)
		heap_session_take(session, event, (const uint64_t *)(event + 1));
}

/* The ring exists once the first BPF programs are loaded. False: not yet. */
static bool open_ring(struct heaps *heaps)
{
	int events = heaps->ring.buffer ? -1 : heap_kernel_events(&heaps->kernel);

	return heaps->ring.buffer || (events >= 0 && event_ring_open(&heaps->ring, events));
}

/* The tables go first: mappings and code objects are reported before the stacks that refer to them.
 * Returns whether there may be more events. */
static bool read_events(struct heaps *heaps, size_t most_bytes)
{
	heaps->config.read_tables(heaps->config.ctx);
	return open_ring(heaps) && event_ring_read(&heaps->ring, most_bytes);
}

static void count_result(struct heaps *heaps, const struct heap_result *result)
{
	int err = result->err;

	if (!err)
		heaps->stats.heap_sessions++;
	else if (err == -EDQUOT || err == -ENOENT || err == -EBUSY || err == -ESRCH ||
	         err == -ENOTSUP || err == -EACCES || err == -EPERM)
		heaps->stats.heap_refused++;
	else
		heaps->stats.heap_failed++;
	heaps->stats.heap_ended_early += !err && result->figures.end != HEAP_END_full;
}

static void answer(struct heaps *heaps, struct heap_session *session)
{
	struct heap_watch *watch = session->watch;

	if (!watch)
		return;
	heap_session_conclude(session);
	count_result(heaps, &session->result);
	session->watch = NULL;
	watch->session = NULL;
	watch->done(watch, &session->result);
	/* The profile belongs to the watcher now. */
	session->result.profile = NULL;
}

/* A free slot, or -1. */
static int find_slot(const struct heaps *heaps)
{
	uint32_t used = 0;

	for (const struct heap_session *session = heaps->sessions; session; session = session->next)
		if (session->slot >= 0)
			used |= 1u << session->slot;
	for (int slot = 0; slot < MAX_HEAP_SESSIONS; slot++)
		if (!(used & 1u << slot))
			return slot;
	return -1;
}

/* The session that watches the process; NULL: none. */
static const struct heap_session *holder_of(const struct heaps *heaps, uint32_t pid)
{
	for (const struct heap_session *session = heaps->sessions; session; session = session->next)
		if (session->slot >= 0 && session->ask.pid == pid)
			return session;
	return NULL;
}

/* Root takes any free slot, other users take from their share. */
static bool take_slot(struct heaps *heaps, uint32_t user)
{
	return user ? shares_take(&heaps->slots, user, 1) : shares_add(&heaps->slots, user, 1);
}

/* Opens a session that waits, refuses it, or leaves it waiting. After a client has hung up, taking
 * the probes off takes some time. A client that asks again meanwhile is not to be refused. */
static void admit(struct heaps *heaps, struct heap_session *session)
{
	const struct heap_session *holder = holder_of(heaps, session->ask.pid);
	int slot = find_slot(heaps);

	if (holder && !holder->watch)
		return;
	if (!holder && slot >= 0 && take_slot(heaps, session->ask.user)) {
		heap_session_open(session, slot);
		return;
	}
	if (holder)
		heap_session_refuse(session, -EBUSY,
		                    "process %u is already being watched; try again later",
		                    session->ask.pid);
	else if (slot >= 0)
		heap_session_refuse(session, -EBUSY,
		                    "user %u has used up its share of the %d processes that may "
		                    "have probes; try again when one of its requests has ended",
		                    session->ask.user, MAX_HEAP_SESSIONS);
	else
		heap_session_refuse(session, -EBUSY,
		                    "%d processes have probes, the most at a time; try again when "
		                    "one of the requests has ended",
		                    MAX_HEAP_SESSIONS);
	session->state = HEAP_OVER;
}

/* Answers and forgets the sessions that are over. */
static void reap(struct heaps *heaps)
{
	struct heap_session **link = &heaps->sessions;

	while (*link) {
		struct heap_session *session = *link;

		if (session->state != HEAP_OVER || session->job_running) {
			link = &session->next;
			continue;
		}
		/* The session leaves the list before its client gets the answer: the client may
		 * start another. */
		*link = session->next;
		if (session->slot >= 0)
			shares_give(&heaps->slots, session->ask.user, 1);
		answer(heaps, session);
		heap_session_free(session);
		link = &heaps->sessions;
	}
}

static void set_pace(struct heaps *heaps);
static void on_tick(uv_timer_t *timer);

/* Reads what has come since the last tick. False: the rest is read soon, after other work of the
 * loop. */
static bool read_all(struct heaps *heaps)
{
	if (read_events(heaps, HEAP_EVENT_BYTES / PIECES) && ++heaps->pieces < PIECES) {
		uv_timer_start(&heaps->tick, on_tick, 1, heaps->tick_ms);
		return false;
	}
	heaps->pieces = 0;
	return true;
}

static void on_tick(uv_timer_t *timer)
{
	struct heaps *heaps = timer->data;
	uint64_t now = clock_mono_ns();

	if (!read_all(heaps))
		return;
	for (struct heap_session *session = heaps->sessions; session; session = session->next) {
		if (session->state == HEAP_WAITING)
			admit(heaps, session);
		else
			heap_session_tick(session, now);
	}
	reap(heaps);
	if (++heaps->ticks % EXPIRE_TICKS == 0)
		heap_standing_expire(heaps->standing);
	set_pace(heaps);
}

/* Ticks as often as is needed. */
static void set_pace(struct heaps *heaps)
{
	uint64_t pace = 0;

	if (heaps->sessions)
		pace = TICK_MS;
	else if (heap_standing_listens(heaps->standing))
		pace = SLOW_TICK_MS;
	if (heaps->stopped || pace == heaps->tick_ms)
		return;
	heaps->tick_ms = pace;
	if (pace)
		uv_timer_start(&heaps->tick, on_tick, pace, pace);
	else
		uv_timer_stop(&heaps->tick);
}

static void on_listening(void *ctx)
{
	set_pace(ctx);
}

static void on_gpus_heard(void *ctx)
{
	struct heaps *heaps = ctx;

	heaps->config.hears_gpus(heaps->config.ctx);
}

int heaps_start(struct heaps *heaps, const struct heap_ask *ask, struct heap_watch *watch)
{
	struct heap_session *session =
		heap_session_new(&heaps->shared, ask, watch, ++heaps->last_serial);
	struct heap_session **link = &heaps->sessions;

	if (!session)
		return -ENOMEM;
	/* Goes behind all others: of the sessions that wait, the oldest is admitted first. */
	while (*link)
		link = &(*link)->next;
	*link = session;
	set_pace(heaps);
	admit(heaps, session);
	return 0;
}

void heaps_cancel(struct heaps *heaps, struct heap_watch *watch)
{
	struct heap_session *session = watch->session;

	(void)heaps;
	if (!session)
		return;
	watch->session = NULL;
	session->watch = NULL;
	heap_session_end(session, HEAP_END_stop);
}

int heaps_standing(struct heaps *heaps, uint32_t pid, enum heap_mode mode,
                   struct profile **ret_profile, struct heap_figures *ret_figures)
{
	read_events(heaps, HEAP_EVENT_BYTES / PIECES);
	return heap_standing_profile(heaps->standing, pid, mode, ret_profile, ret_figures);
}

bool heaps_inuse(const struct heaps *heaps, uint32_t pid, uint64_t *ret_bytes)
{
	return heap_standing_inuse(heaps->standing, pid, ret_bytes);
}

void heaps_get_stats(const struct heaps *heaps, struct heaps_stats *ret_stats)
{
	struct heap_counts told;

	/* Those of sessions were added when the sessions ended. */
	heap_kernel_counts(&heaps->kernel, HEAP_SLOT_STANDING, &told);
	*ret_stats = heaps->stats;
	ret_stats->heap_events_lost += told.lost;
	ret_stats->heap_events_over_share += told.over_share;
	ret_stats->heap_lane_busy += told.busy;
	ret_stats->standing = heap_standing_count(heaps->standing);
	ret_stats->standing_bytes = heap_standing_bytes(heaps->standing);
	ret_stats->heap_searches_put_off = heap_standing_put_off(heaps->standing);
	heap_standing_files(heaps->standing, &ret_stats->heap_files_refused,
	                    &ret_stats->heap_files_untrusted);
	for (const struct heap_session *session = heaps->sessions; session; session = session->next)
		ret_stats->watching += session->slot >= 0;
}

int heaps_new(const struct heaps_config *config, struct heaps **ret_heaps)
{
	struct heaps *heaps = calloc(1, sizeof(*heaps));

	if (!heaps)
		return -ENOMEM;
	heaps->config = *config;
	heaps->ring = (struct event_ring){.take = take_event, .ctx = heaps};
	heaps->kernel.bpf = heaps->gpus.bpf = config->bpf;
	heaps->slots.whole = MAX_HEAP_SESSIONS;
	heaps->shared.kernel = &heaps->kernel;
	heaps->shared.tables = config->tables;
	heaps->shared.stats = &heaps->stats;
	heaps->shared.lane = lane_new(config->loop, WORK_heaps, MAX_JOBS);
	heaps->shared.aside = aside_new();
	heaps->reader = reader_new(
		&(struct reader_program){READER_SELF, "heaps", MAX_HEAP_READER_BYTES, 0});
	*ret_heaps = heaps;
	if (!heaps->shared.lane || !heaps->shared.aside || !heaps->reader)
		return -ENOMEM;
	return heap_standing_new(
		&(struct heap_standing_config){
			.loop = config->loop,
			.lane = heaps->shared.lane,
			.reader = heaps->reader,
			.kernel = &heaps->kernel,
			.gpus = &heaps->gpus,
			.tables = config->tables,
			.stats = &heaps->stats,
			.attached = on_listening,
			.hears_gpus = on_gpus_heard,
			.ctx = heaps,
		},
		&heaps->standing);
}

void heaps_start_clock(struct heaps *heaps)
{
	uv_timer_init(heaps->config.loop, &heaps->tick);
	heaps->tick.data = heaps;
	heap_standing_start(heaps->standing);
}

void heaps_stop(struct heaps *heaps)
{
	heaps->stopped = true;
	for (struct heap_session *session = heaps->sessions; session; session = session->next) {
		heap_session_refuse(session, -ECANCELED, "profd is stopping");
		answer(heaps, session);
		if (session->reader)
			reader_cancel(session->reader);
	}
	heap_standing_stop(heaps->standing);
	lane_stop(heaps->shared.lane);
	reader_cancel(heaps->reader);
	uv_close((uv_handle_t *)&heaps->tick, NULL);
}

void heaps_free(struct heaps *heaps)
{
	if (!heaps)
		return;
	while (heaps->sessions) {
		struct heap_session *session = heaps->sessions;

		heaps->sessions = session->next;
		heap_session_free(session);
	}
	shares_clear(&heaps->slots);
	heap_standing_free(heaps->standing);
	lane_free(heaps->shared.lane);
	aside_free(heaps->shared.aside);
	reader_free(heaps->reader);
	event_ring_release(&heaps->ring);
	free(heaps);
}

void heaps_add_reader_stats(const struct heaps *heaps, struct reader_stats *stats)
{
	reader_add_stats(heaps->reader, stats);
#define STAT(name, type, help) stats->name += heaps->shared.readers_gone.name;
	READER_STATS(STAT)
#undef STAT
	for (const struct heap_session *session = heaps->sessions; session; session = session->next)
		if (session->reader)
			reader_add_stats(session->reader, stats);
}
