/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct bound - what the threads of a profile of all time are bound by: how their time divides
 * among activities, the one that limits them, and the stacks behind it. Private to encode/; pure.
 *
 * Time of waiting for work is left out, and so are idle threads: those that do anything else for
 * less than a tenth of the time. If all are idle, none is left out.
 */
#pragma once

#include "encode/hot_places.h"
#include "profile/activity.h"

/* BOUND(name, title, why): what a profile can be bound by. */
#define BOUNDS(BOUND)                                                                   \
	BOUND(cpu, "the CPU", "its code runs")                                          \
	BOUND(faults, "page faults", "the kernel gives it new pages, or fetches them")  \
	BOUND(contended_cpu, "too few CPUs", "it wants one that others have")           \
	BOUND(gil, "the GIL", "other threads of its interpreter run")                   \
	BOUND(lock, "locks", "other threads hold them")                                 \
	BOUND(disk, "a disk", "it reads, writes, or waits for either")                  \
	BOUND(network, "the network", "it sends, receives, or waits for either")        \
	BOUND(process, "another process", "it works with a pipe, or waits for a child") \
	BOUND(gpu, "a GPU", "it waits for one")                                         \
	BOUND(sleep, "sleeping", "for times that it sets itself")                       \
	BOUND(stopped, "being stopped", "by a signal or a debugger")                    \
	BOUND(other, "other waits", "in system calls of no kind above")                 \
	BOUND(nothing, "nothing", "it waits for work")

#define BOUND(name, title, why) BOUND_##name,
enum bound_kind { BOUNDS(BOUND) BOUND_COUNT };
#undef BOUND

enum {
	BOUND_LEAST_TICKS = 20, /* with fewer samples of CPU time, none of it is judged */
};

struct bound {
	uint64_t ns[ACTIVITY_COUNT]; /* of threads that are not left out; but for work */
	uint64_t total_ns;           /* their sum, without work */
	uint64_t work_ns, idle_ns;   /* left out: of these threads, of idle ones */
	uint32_t threads, idle_threads;
	uint64_t cpu_ns, ticks; /* of all: CPU time, and its samples */
	uint64_t waits;         /* of all */
	enum bound_kind kind;
	uint64_t kind_ns;         /* what it has of `total_ns` */
	bool is_unsure;           /* too few samples to tell */
	struct hot_places places; /* of what limits: none for BOUND_nothing */
};

extern const char *const bound_names[BOUND_COUNT];

/* 0 or -ENOMEM. */
int bound_find(const struct profile *profile, struct bound *ret_bound);
void bound_release(struct bound *bound);

/* Half the width of the 95 % interval of an activity's share; 0: the share is no estimate, because
 * the scheduler keeps the time itself. */
double bound_error(const struct bound *bound, enum activity activity);
/* How many times as fast the work is at most once a part of it takes no time: Amdahl's law. */
double bound_gain(const struct bound *bound, uint64_t ns);
/* Appends a line, without its end, that says what limits the threads. */
void bound_write_verdict(const struct bound *bound, struct buf *out);
