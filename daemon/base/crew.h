/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct crew - threads that touch what belongs to others: files on file systems that may be slow,
 * or that a user made hang on purpose. The loop thread submits jobs and is told of their end; it
 * never waits for one for longer than it says.
 *
 * - At most one job of each (owner, device) runs at a time, so a device that hangs holds one
 * thread.
 * - A job that runs for longer than some 20 ms is slow: another thread takes the place of its own.
 *   An owner of whom CREW_SLOW_EACH jobs are slow gets no further ones run. All users of one
 * account (base/accounts.h) are one owner. The superuser has no such share.
 * - A job that runs longer than the deadline hangs. It ends when the kernel lets it return.
 * - Jobs that wait behind one that hangs are given up after the deadline.
 * - The queue is bounded, and each owner has a share of it.
 *
 * Everything here is for the loop thread, except that run() is called on a thread of the crew.
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
	CREW_THREADS = 3,   /* that wait for jobs or run one */
	CREW_SLOW_EACH = 2, /* jobs of one owner */
	CREW_SLOW_MAX = 64, /* jobs of all owners, each with a thread */
	CREW_QUEUE = 16384, /* jobs; an owner alone may have half */
};

/* Embed in a larger struct; the crew has it from crew_submit() to done(). */
struct crew_job {
	uint32_t owner;  /* the user for whom it is done */
	uint64_t device; /* on which it is done, 0: none; or crew_process() */
	bool gives_back; /* what others need, as descriptors: it goes before those that wait */
	void (*run)(struct crew_job *job);
	/* 0 when run() has returned; -ETIMEDOUT when it waited for too long behind one that hangs,
	 * -ECANCELED when the crew was stopped: run() was not called. May free the job. */
	void (*done)(struct crew_job *job, int err);

	/* The rest is the crew's. */
	struct crew_job *prev, *next;
	uint64_t submitted_ns, started_ns;
	bool is_slow, hangs;
};

/* Of a job that reads what a process has, as its memory, in the place of a device. */
static inline uint64_t crew_process(uint32_t pid)
{
	return 1ULL << 63 | pid;
}

#define CREW_STATS(STAT)                                                                  \
	STAT(done, counter, "Jobs that have ended")                                       \
	STAT(hung, counter, "Jobs that ran for longer than two seconds")                  \
	STAT(timed_out, counter, "Jobs given up while they waited behind one that hangs") \
	STAT(refused, counter,                                                            \
	     "Jobs refused because the queue, or a user's share of it, was full")         \
	STAT(queued, gauge, "Jobs waiting")                                               \
	STAT(hanging, gauge, "Jobs that hang now")

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

/* Negative errno. Threads are started by the first job. */
int crew_new(const struct crew_config *config, struct crew **ret_crew);
/* After crew_stop(), once the loop has closed its handles. Threads that hang are left behind. */
void crew_free(struct crew *crew);
DEFINE_CLEANUP(struct crew *, crew_free)
/* -EAGAIN: the queue, or the owner's share of it, is full, or the crew was stopped. Nothing of the
 * job is called then. */
int crew_submit(struct crew *crew, struct crew_job *job);
/* Waits for the jobs that were submitted less than `patience_ns` ago, no longer than that, and
 * calls done() of what has ended. */
void crew_settle(struct crew *crew, uint64_t patience_ns);
void crew_stop(struct crew *crew);
void crew_get_stats(struct crew *crew, struct crew_stats *ret_stats);
