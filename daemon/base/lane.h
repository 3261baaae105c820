/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct lane - one worker at a time for slow work, first in first out, on libuv's thread pool. One
 * that takes turns has, of what waits, the first job of the user who had least of its time lately.
 * Data crosses only inside jobs: run() is called on a worker thread and touches nothing but the job
 * and what the job owns or what is immutable; done() is called on the loop thread and may free the
 * job. Everything else here is for the loop thread.
 */
#pragma once

#include "base/accounts.h"
#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>
#include <uv.h>

/* All lanes, as people are told of them. Each has a thread of the pool to itself. */
#define WORK_LANES(LANE)                                                                      \
	LANE(render, "render")     /* profiles out of slices */                               \
	LANE(tables_0, "tables-0") /* unwind tables, by as many as there are CPUs for */      \
	LANE(tables_1, "tables-1")                                                            \
	LANE(tables_2, "tables-2")                                                            \
	LANE(tables_3, "tables-3")                                                            \
	LANE(code, "code")                     /* those of code that has none */              \
	LANE(load, "load")                     /* programs into the kernel */                 \
	LANE(python_files, "python-files")     /* which files are CPython */                  \
	LANE(python_threads, "python-threads") /* what it calls its threads */                \
	LANE(heaps, "heaps")                   /* probes in allocators */                     \
	LANE(gpu, "gpu")                       /* probes in what drives GPUs */               \
	LANE(gpu_search, "gpu-search")         /* files that may have some of that in them */ \
	LANE(memory, "memory")                 /* how much processes hold */                  \
	LANE(passwords, "passwords")           /* whether one is right */                     \
	LANE(processes, "processes")           /* lists of them */                            \
	LANE(cmdlines, "command-lines")        /* the same with their command lines */        \
	LANE(group, "group")                   /* who is in it */                             \
	LANE(nvml, "nvml")                     /* what NVIDIA's driver says */

#define LANE(name, text) WORK_##name,
enum work_lane { WORK_LANES(LANE) WORK_LANE_COUNT };
#undef LANE

struct lane;

/* Embed in a larger struct; it must stay put from submit to done. */
struct job {
	void (*run)(struct job *job);
	void (*done)(struct job *job);
	struct job *next; /* the lane's */
};

/* A job on behalf of one of many who ask. Those who wait take turns: whoever has less in the queue
 * does not wait for all of who has more. */
struct turn {
	struct job job;
	uint64_t account; /* on whose behalf; 0: of somebody who needs no share */
	uint64_t round;   /* the lane's */
};

/* Before the first loop: so many threads that no lane waits for another, nor libuv for them. */
void lanes_set_threads(void);
/* NULL when out of memory. */
struct lane *lane_new(uv_loop_t *loop, enum work_lane which, size_t max_queued);
/* Only when idle: after lane_stop() and the loop has run the last done(). */
void lane_free(struct lane *lane);
DEFINE_CLEANUP(struct lane *, lane_free)

/* For whom a job is, LANE_USER(): a user and his subordinate ids are one; or 0 for nobody. Loop
 * thread. */
#define LANE_USER(uid) ((uint64_t)account_of(uid) + 1)
typedef uint64_t lane_user_fn(const struct job *job);
void lane_take_turns(struct lane *lane, lane_user_fn *fn);
/* -EAGAIN when the queue is full or the lane was stopped: shed load, never wait. */
int lane_submit(struct lane *lane, struct job *job);
/* Behind those of lane_submit(). -EDQUOT: the account has its share of the queue, which is as much
 * as is left of it when an eighth is kept for account 0. */
int lane_submit_turn(struct lane *lane, struct turn *turn);
/* What lane_submit_turn() would say now, before the job's data are gathered. */
int lane_has_room(const struct lane *lane, uint64_t account);
/* Takes no more jobs; done() of those still queued is called at once without run(). */
void lane_stop(struct lane *lane);
size_t lane_length(const struct lane *lane); /* queued and running */
/* Tells of every lane that there is how long its job has been running; 0: none is. */
void lanes_each(void (*fn)(const char *name, uint64_t running_ns, void *ctx), void *ctx);
