/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct heap_session - one heap profile, from the question to the answer:
 *
 *   WAITING    until the one before of the same process, whom nobody waits for any more, has closed
 *   LOADING    on the lane: the programs, if this is the first one
 *   OPENING    on the lane: find the allocator, attach what counts calls
 *   COUNTING   for a moment; then it is known what it will cost, and refused or not
 *   ATTACHING  on the lane: the probes that sample, in the place of the one that counts
 *   WATCHING   until the time is over, or the process, or the budget
 *   CLOSING    on the lane: detach, forget; then the answer is given
 *
 * Whoever asked may leave at any moment; then it closes without an answer. Private to heaps.c and
 * the heap_*.c files. Loop thread only.
 */
#pragma once

#include "base/lane.h"
#include "reader/reader.h"
#include "collect/heap_feed.h"
#include "collect/heap_guard.h"
#include "collect/heap_links.h"
#include "collect/heaps.h"

/* What all sessions share. */
struct heap_shared {
	struct heap_kernel *kernel;
	struct lane *lane;
	struct drain_tables tables;
	struct heaps_stats *stats;
	struct reader_stats readers_gone; /* of the sessions that were */
	/* Found out by the first session; the lane's. */
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
	struct job job; /* of LOADING, OPENING, ATTACHING, CLOSING; the lane's while one of these */
	struct heap_session *next;
	struct heap_shared *shared;
	struct heap_watch *watch; /* NULL: nobody waits any more */
	struct heap_ask ask;
	enum heap_state state;
	int slot; /* -1: never had one */
	uint32_t serial;
	bool holds_exec, job_running;
	bool ended; /* before it was watched */
	int pidfd;
	struct reader *reader; /* of this session only; the lane's in OPENING, then at rest */
	struct heap_plan plan;
	struct heap_programs programs; /* once LOADING is over */
	struct uprobes links;
	int err; /* of the job */
	struct heap_feed *feed;
	struct heap_result result;
	struct heap_guard guard;
	uint64_t state_mono_ns; /* when this state began */
};

/* Waits for a slot. NULL when out of memory. */
struct heap_session *heap_session_new(struct heap_shared *shared, const struct heap_ask *ask,
                                      struct heap_watch *watch, uint32_t serial);
/* Only when over. */
void heap_session_free(struct heap_session *session);
/* What to answer when it has closed. */
__attribute__((format(printf, 3, 4))) void heap_session_refuse(struct heap_session *session,
                                                               int err, const char *format, ...);
/* The same in words for an error. */
void heap_session_explain(struct heap_session *session, int err);
/* Of one that waits. */
void heap_session_open(struct heap_session *session, int slot);
/* Some times a second, and after events were taken. */
void heap_session_tick(struct heap_session *session, uint64_t now);
/* Ends it early, whatever it does; nobody waits when `watch` was taken away before. */
void heap_session_end(struct heap_session *session, enum heap_end end);
/* The figures of what was watched until now. */
void heap_session_note(struct heap_session *session, enum heap_end end);
void heap_session_take(struct heap_session *session, const struct heap_event *event,
                       const uint64_t *words);
/* Makes the answer ready; when over. */
void heap_session_conclude(struct heap_session *session);
