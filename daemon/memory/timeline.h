/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct timeline - how much memory each process held, for as long as profiles are kept; also for
 * processes that have ended. The caller adds each reading when it is made.
 *
 * The whole stays within `max_bytes`: the account with the most data that can be dropped loses
 * some, first the processes that ended longest ago, then the oldest points. Living processes and
 * their groups stay, even when they alone exceed `max_bytes`; a quarter of the bytes is always
 * available for points and for ended processes. When there are `max_processes`, ended processes of
 * the account with most processes are dropped; when all processes of that account live, it gets no
 * more. A group belongs to the account of the process through which it became known; an account may
 * have half of all groups.
 *
 * Times are milliseconds of CLOCK_MONOTONIC. Loop thread only.
 */
#pragma once

#include "base/cleanup.h"
#include "memory/control_group.h"
#include "memory/growth_track.h"

struct timeline;

struct timeline_limits {
	uint64_t keep_ms;
	size_t max_bytes;
	size_t max_processes;
};

/* A control group that has a limit, or that has none and no parent with one. */
struct timeline_group {
	const char *path;
	struct control_group_usage usage; /* as of seen_ms */
	struct series series;             /* its usage, stored as rss_anon */
	uint64_t seen_ms;
};

/* One process, from the first reading to its end. When a pid was reused, the latest process. */
struct timeline_process {
	uint32_t pid;
	uint32_t user; /* as in proc/owner.h, at the last reading */
	char comm[16];
	uint64_t start_ticks;
	uint64_t seen_ms;  /* when its figures were last read */
	uint64_t alive_ms; /* when it was last known to exist */
	bool ended;
	bool fills; /* it is known to fill memory up to a bound, so its growth is not judged */
	struct series series;
	struct growth_track track;          /* whether it leaks */
	const struct timeline_group *group; /* NULL: none, or not known */
	struct memory_figures figures;      /* as of `seen_ms` */
};

#define TIMELINE_STATS(STAT)                                                                 \
	STAT(processes, gauge, "Processes in the timelines of memory, including ended ones") \
	STAT(groups, gauge, "Control groups in the timelines of memory")                     \
	STAT(bytes, gauge, "Size of the timelines of memory")                                \
	STAT(evicted, counter,                                                               \
	     "Ended processes whose timeline was dropped early for lack of room")            \
	STAT(dropped, counter, "Readings of memory not kept for lack of room")               \
	STAT(unjudged, gauge, "Growing processes not checked for leaks for lack of room")

struct timeline_stats {
#define STAT(name, type, help) uint64_t name;
	TIMELINE_STATS(STAT)
#undef STAT
	uint64_t leaking; /* processes whose memory grows steadily */
};

struct timeline *timeline_new(const struct timeline_limits *limits); /* NULL: out of memory */
/* Changes the limit; it takes effect from the next reading on. */
void timeline_resize(struct timeline *timeline, size_t max_bytes);
void timeline_free(struct timeline *timeline);
DEFINE_CLEANUP(struct timeline *, timeline_free)

/* Adds the usage of a group. A new group belongs to `user`. NULL when there is no room. */
const struct timeline_group *timeline_group(struct timeline *timeline, const char *path,
                                            uint32_t user, const struct control_group_usage *usage,
                                            uint64_t now_ms);
/* Adds the reading of a process. A changed start_ticks means a new process, a changed comm a new
 * program. */
void timeline_process(struct timeline *timeline, const struct timeline_process *seen);
/* The process still exists, but its memory was not read. */
void timeline_alive(struct timeline *timeline, uint32_t pid, uint64_t now_ms);
/* Ends a reading: processes neither seen nor alive at `now_ms` have ended. Drops what is too old or
 * exceeds the limits, and judges the living processes, each every few seconds. */
void timeline_settle(struct timeline *timeline, uint64_t now_ms);

/* NULL: not known. Valid until the next change, like all other pointers. */
const struct timeline_process *timeline_find(const struct timeline *timeline, uint32_t pid);
typedef void timeline_fn(const struct timeline_process *process, void *ctx);
void timeline_each(const struct timeline *timeline, timeline_fn *fn, void *ctx);
void timeline_get_stats(const struct timeline *timeline, struct timeline_stats *ret_stats);
