/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct lane - one worker at a time for slow work, first in first out, on libuv's thread pool. If
 * users take turns on a lane, its next job is the first waiting one of the user that has used the
 * least of the lane's time lately. Data crosses threads only inside jobs: run() is called on a
 * worker thread and touches only the job, what the job owns, and immutable data; done() is called
 * on the loop thread and may free the job. Everything else here is for the loop thread.
 */
#pragma once

#include "base/accounts.h"
#include "base/cleanup.h"
#include "base/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

/* All lanes, with their names in metrics. Each has a thread of the pool to itself. */
#define WORK_LANES(LANE)                                                                    \
	LANE(render, "render")     /* makes profiles from slices */                         \
	LANE(tables_0, "tables-0") /* build unwind tables; as many as there are CPUs for */ \
	LANE(tables_1, "tables-1")                                                          \
	LANE(tables_2, "tables-2")                                                          \
	LANE(tables_3, "tables-3")                                                          \
	LANE(code, "code")                     /* derives tables for code without any */    \
	LANE(load, "load")                     /* loads BPF programs */                     \
	LANE(python_files, "python-files")     /* finds the files that are CPython */       \
	LANE(python_threads, "python-threads") /* reads the names of Python threads */      \
	LANE(heaps, "heaps")                   /* attaches probes to allocators */          \
	LANE(gpu, "gpu")                       /* attaches probes to GPU drivers */         \
	LANE(gpu_search, "gpu-search")         /* finds the files that may contain one */   \
	LANE(memory, "memory")                 /* reads how much memory processes hold */   \
	LANE(passwords, "passwords")           /* checks passwords */                       \
	LANE(processes, "processes")           /* makes process lists */                    \
	LANE(cmdlines, "command-lines")        /* with command lines; reads tasks */        \
	LANE(group, "group")                   /* reads the members of the group */         \
	LANE(nvml, "nvml")                     /* queries NVIDIA's driver */                \
	LANE(export, "export")                 /* puts and reads exported profiles */

#define LANE(name, text) WORK_##name,
enum work_lane { WORK_LANES(LANE) WORK_LANE_COUNT };
#undef LANE

struct lane;

/* Embed in a larger struct; it must not move from lane_submit() to done(). */
struct job {
	void (*run)(struct job *job);
	void (*done)(struct job *job);
	struct job *next; /* private to the lane */
};

/* A job on behalf of an account. Accounts with waiting jobs take turns: an account with few jobs in
 * the queue does not wait for all jobs of an account with many. */
struct turn {
	struct job job;
	uint64_t account; /* 0: no account; the job counts against no share */
	/* Private to the lane. */
	uint64_t round, queued_mono_ns;
};

/* A turn of an account that has not begun after this time is given up: what it holds is in no
 * bound, and the queue may be of any length. done() is called without run(), as by lane_stop(). */
#define LANE_PATIENCE_NS (120 * NSEC_PER_SEC)

/* To be called before the first loop. Sets the number of pool threads so that no lane waits for
 * another, and libuv's own work for none of them. */
void lanes_set_threads(void);
/* NULL when out of memory. */
struct lane *lane_new(uv_loop_t *loop, enum work_lane which, size_t max_queued);
/* Only for an idle lane: after lane_stop(), once the loop has run the last done(). */
void lane_free(struct lane *lane);
DEFINE_CLEANUP(struct lane *, lane_free)

/* The user that a job is for, as LANE_USER(), in which a user and its subordinate ids are one; 0:
 * no user. Called on the loop thread. */
#define LANE_USER(uid) ((uint64_t)account_of(uid) + 1)
typedef uint64_t lane_user_fn(const struct job *job);
void lane_take_turns(struct lane *lane, lane_user_fn *fn);
/* -EAGAIN when the queue is full or the lane was stopped: the caller sheds the load; it never
 * waits. */
int lane_submit(struct lane *lane, struct job *job);
/* Turns run after the jobs of lane_submit(). -EDQUOT: the account has used up its share, which is
 * as many jobs as the queue still has room for when an eighth of it is kept for account 0. */
int lane_submit_turn(struct lane *lane, struct turn *turn);
/* Takes a turn out of the queue: neither run() nor done() will be called. False: it is not in the
 * queue, because it runs. */
bool lane_cancel_turn(struct lane *lane, struct turn *turn);
/* For an account that waits for the result of another's turn: where a new turn of this account
 * would come earlier, and the account's share has room for it, the queued turn becomes that one. */
void lane_hasten_turn(struct lane *lane, struct turn *turn, uint64_t account);
/* What lane_submit_turn() would return now; for callers that have not gathered the job's data
 * yet. */
int lane_has_room(const struct lane *lane, uint64_t account);
/* Refuses further jobs; calls done() of the jobs still queued at once, without run(). */
void lane_stop(struct lane *lane);
size_t lane_length(const struct lane *lane); /* queued and running */
/* Calls fn() for every lane with the time that its current job has been running; 0: no job runs. */
void lanes_each(void (*fn)(const char *name, uint64_t running_ns, void *ctx), void *ctx);
