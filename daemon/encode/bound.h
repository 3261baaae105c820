/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct bound - what the threads of a profile of all time are bound by: how their time divides
 * among activities, the one that limits them, and the stacks behind it. Private to encode/; pure.
 *
 * Waiting for work is left out, and so is a process's waiting for a child that is in the profile.
 * Idle threads are left out, too: those that run, or wait for something known, for less than a
 * tenth of the time; but not where that is half or more of what all threads do.
 */
#pragma once

#include "encode/hot_places.h"
#include "profile/activity.h"

#include <stdbool.h>

/* BOUND(name, title, why): what a profile can be bound by. */
#define BOUNDS(BOUND)                                                                         \
	BOUND(cpu, "the CPU", "its code runs")                                                \
	BOUND(faults, "page faults", "the kernel gives it new pages")                         \
	BOUND(contended_cpu, "too few CPUs",                                                  \
	      "others have them, or a limit of its control group holds it back")              \
	BOUND(gil, "the GIL", "other threads of its interpreter run")                         \
	BOUND(lock, "locks", "other threads hold them")                                       \
	BOUND(thread, "its other threads", "it waits for them in futexes of an unknown kind") \
	BOUND(disk, "a disk or file system", "it reads, writes, or waits for either")         \
	BOUND(network, "the network", "it sends, receives, or waits for either")              \
	BOUND(process, "another process",                                                     \
	      "it works with a pipe or a local socket, or waits for a child")                 \
	BOUND(gpu, "a GPU", "it waits for one")                                               \
	BOUND(sleep, "sleeping", "for times that it sets itself")                             \
	BOUND(stopped, "being stopped", "by a signal or a debugger")                          \
	BOUND(other, "other waits", "in system calls of no kind above")                       \
	BOUND(nothing, "nothing known", "it waits for work, or for answers in poll()")

#define BOUND(name, title, why) BOUND_##name,
enum bound_kind { BOUNDS(BOUND) BOUND_COUNT };
#undef BOUND

/* With fewer samples and waits together, or of CPU time if it is that, nothing is judged. */
enum { BOUND_LEAST_SAMPLES = 20 };

struct bound {
	uint64_t ns[ACTIVITY_COUNT]; /* of threads that are not left out */
	uint64_t total_ns;           /* their sum, but for work and what is not known */
	uint64_t idle_ns;            /* of threads that are left out */
	uint32_t threads, idle_threads;
	uint64_t cpu_ns; /* of all threads */
	uint64_t ticks;  /* samples of CPU time of threads that are not left out */
	uint64_t waits;  /* of these */
	enum bound_kind kind;
	uint64_t kind_ns;         /* what it has of `total_ns` */
	bool is_unsure;           /* too little is known to tell */
	struct hot_places places; /* of what limits: none for BOUND_nothing */
};

extern const char *const bound_names[BOUND_COUNT];

/* 0 or -ENOMEM. */
int bound_find(const struct profile *profile, struct bound *ret_bound);
void bound_release(struct bound *bound);

/* Half the width of the 95 % interval of an activity's share of `total_ns`, as far as that depends
 * on how samples of CPU time fell; 0: it does not. */
double bound_error(const struct bound *bound, enum activity activity);
/* Appends a line, without its end, that says what limits the threads. */
void bound_write_verdict(const struct bound *bound, struct buf *out);
