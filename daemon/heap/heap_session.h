/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct heap_session - one heap profile, from the question to the answer:
 *
 *   WAITING    until the previous session of the same process, which no client waits for any more,
 *              has closed
 *   LOADING    on the lane: load the programs, if this is the first session
 *   OPENING    on the lane: find the allocator, attach the probes that count calls
 *   COUNTING   for a moment; then the cost is known, and the session goes on or is refused
 *   ATTACHING  on the lane: the probes that sample take the place of those that count
 *   WATCHING   until the time is over, the process ends, or the budget is exceeded
 *   CLOSING    on the lane: detach, forget; then the answer is given
 *
 * The client may leave at any moment; then the session closes without an answer. Private to heaps.c
 * and the heap_*.c files. Loop thread only.
 */
#pragma once

#include "base/lane.h"
#include "heap/heap_feed.h"
#include "heap/heap_guard.h"
#include "heap/heap_links.h"
#include "heap/heap_watch.h"
#include "heap/heaps_stats.h"
#include "reader/reader.h"

/* Shared by all sessions. */
struct heap_shared {
	struct heap_kernel *kernel;
	struct lane *lane;
	struct aside *aside; /* of the lane */
	struct drain_tables tables;
	struct heaps_stats *stats;
	struct reader_stats readers_gone; /* of the sessions that have ended */
	/* Measured by the first session; owned by the lane. */
	bool priced, have_sessions;
	struct heap_price price;
};

enum heap_state {
	HEAP_WAITING, /* without a slot; heaps.c gives it one, or refuses it */
	HEAP_LOADING,
	HEAP_OPENING,
	HEAP_COUNTING,
	HEAP_ATTACHING,
	HEAP_WATCHING,
	HEAP_CLOSING,
	HEAP_OVER, /* the answer may be given */
};

struct heap_session {
	/* Of LOADING, OPENING, ATTACHING, CLOSING. The session is the lane's while the job runs. */
	struct job job;
	struct heap_session *next;
	struct heap_shared *shared;
	struct heap_watch *watch; /* NULL: no client waits any more */
	struct heap_ask ask;
	enum heap_state state;
	int slot; /* -1: never had one */
	uint32_t serial;
	bool holds_exec, job_running;
	bool ended; /* the process ended before it was watched */
	int pidfd;
	struct reader *reader; /* used by this session only; the lane's in OPENING, then stopped */
	struct heap_plan plan;
	struct heap_programs programs; /* once LOADING is over */
	struct uprobes links;
	int err; /* of the job */
	struct heap_feed *feed;
	struct heap_result result;
	struct heap_guard guard;
	uint64_t state_mono_ns; /* when this state began */
};

/* The new session waits for a slot. NULL when out of memory. */
struct heap_session *heap_session_new(struct heap_shared *shared, const struct heap_ask *ask,
                                      struct heap_watch *watch, uint32_t serial);
/* Only when the session is over. */
void heap_session_free(struct heap_session *session);
/* Sets the error to answer when the session has closed. */
__attribute__((format(printf, 3, 4))) void heap_session_refuse(struct heap_session *session,
                                                               int err, const char *format, ...);
/* Sets the error, and its text for people. */
void heap_session_explain(struct heap_session *session, int err);
/* Gives a slot to a session that waits. */
void heap_session_open(struct heap_session *session, int slot);
/* Call some times a second, and after events were taken. */
void heap_session_tick(struct heap_session *session, uint64_t now);
/* Ends the session early, in any state. If `watch` was removed before, no client waits. */
void heap_session_end(struct heap_session *session, enum heap_end end);
/* Fills in the figures of what was watched until now. */
void heap_session_note(struct heap_session *session, enum heap_end end);
void heap_session_take(struct heap_session *session, const struct heap_event *event,
                       const uint64_t *words);
/* Makes the answer ready; when the session is over. */
void heap_session_conclude(struct heap_session *session);
