/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct crew - a thread pool for blocking operations on files and processes of users: a file
 * system may be slow, or a user may have made it hang on purpose. The loop thread submits jobs and
 * is notified when they end; it waits for jobs only in crew_settle() and crew_stop(), both bounded.
 *
 * - At most one job of each (owner, device) runs at a time, so a device that hangs holds one
 *   thread.
 * - A job that runs for longer than some 20 ms is slow: another thread takes the place of its
 *   thread. While CREW_SLOW_EACH jobs of an owner are slow, no further job of that owner runs. All
 *   users of one account (base/accounts.h) are one owner. The superuser has no such limit.
 * - A job that runs longer than the deadline hangs. It ends when the kernel lets it return.
 * - Jobs that wait behind a job that hangs are given up after the deadline.
 * - The queue is bounded, and each owner has a share of it.
 *
 * All functions are for the loop thread; only run() is called on a thread of the crew.
 */
#pragma once

#include "base/cleanup.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

struct crew;

enum {
	CREW_THREADS = 3,   /* threads that are idle or run a job that is not slow */
	CREW_SLOW_EACH = 2, /* slow jobs of one owner */
	CREW_SLOW_MAX = 64, /* slow jobs of all owners, each with a thread */
	CREW_QUEUE = 16384, /* jobs; a single owner may have half */
};

/* Embed in a larger struct; the crew owns the job from crew_submit() to done(). */
struct crew_job {
	uint32_t owner;  /* the user whose file or process the job works on */
	uint64_t device; /* the device that the job works on; 0: none; or crew_process() */
	/* Frees a shared resource, as a descriptor: queued before all others, whatever the owner
	 * has in the queue, run beside slow jobs for other devices, and never given up before
	 * crew_stop(). */
	bool gives_back;
	void (*run)(struct crew_job *job);
	/* err: 0 when run() has returned; otherwise run() was not called: -ETIMEDOUT when the job
	 * waited for too long behind one that hangs, -ECANCELED when the crew was stopped. May free
	 * the job. */
	void (*done)(struct crew_job *job, int err);

	/* Private to the crew. */
	struct crew_job *prev, *next;
	uint64_t submitted_ns, started_ns;
	bool is_slow, hangs;
};

/* Takes the place of the device in a job that reads from a process, for example its memory. */
static inline uint64_t crew_process(uint32_t pid)
{
	return 1ULL << 63 | pid;
}

#define CREW_STATS(STAT)                                                                 \
	STAT(done, counter, "Jobs of the crew that have ended")                          \
	STAT(hung, counter, "Jobs of the crew that ran for longer than two seconds")     \
	STAT(timed_out, counter,                                                         \
	     "Jobs of the crew given up while they waited behind one that hangs")        \
	STAT(refused, counter,                                                           \
	     "Jobs refused because the crew's queue, or a user's share of it, was full") \
	STAT(queued, gauge, "Jobs in the queue of the crew")                             \
	STAT(hanging, gauge, "Jobs of the crew that hang now")

struct crew_stats {
#define STAT(name, type, help) uint64_t name;
	CREW_STATS(STAT)
#undef STAT
};

struct crew_config {
	uv_loop_t *loop;
	uint64_t deadline_ns;
	void (*delivered)(void *ctx); /* after done() of one job or of several; may be NULL */
	void *ctx;
};

/* 0 or a negative errno. Threads are started when the first jobs are submitted. */
int crew_new(const struct crew_config *config, struct crew **ret_crew);
/* To be called after crew_stop(), once the loop has closed the crew's handles. Threads that hang
 * are left running, and the crew's memory with them. */
void crew_free(struct crew *crew);
DEFINE_CLEANUP(struct crew *, crew_free)
/* -EAGAIN: the queue, or the owner's share of it, is full, or the crew was stopped. Neither run()
 * nor done() is called then. */
int crew_submit(struct crew *crew, struct crew_job *job);
/* Waits at most `patience_ns` for the jobs that were submitted less than `patience_ns` ago, and
 * calls done() of the jobs that have ended. */
void crew_settle(struct crew *crew, uint64_t patience_ns);
void crew_stop(struct crew *crew);
/* After crew_stop(): whether threads that hang are left, whose jobs may return at any time. */
bool crew_leaves_threads(struct crew *crew);
void crew_get_stats(struct crew *crew, struct crew_stats *ret_stats);
