/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct timeline - how much memory each process held, for as long as profiles are kept; also of
 * processes that have ended. It is told what was read, when it was. The whole stays within
 * `max_bytes`: the account that has most to give back gives way, with what ended longest ago first,
 * then with its oldest points. Processes that live and their groups stay, even where they alone are
 * more; a quarter of the bytes is there for points and for what has ended all the same. Of
 * `max_processes` the account that has most gives way with those that have ended; where all of its
 * own live, it gets no more. A group is of the account of who brought it, which may have half of
 * all groups. Times are milliseconds of CLOCK_MONOTONIC. Loop thread only.
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

/* A control group with a limit, or one without any above it. */
struct timeline_group {
	const char *path;
	struct control_group_usage usage; /* as of late */
	struct series series;             /* what it uses, as rss_anon */
	uint64_t seen_ms;
};

/* One process, from when it was first seen to its end; what has its pid now, if there were two. */
struct timeline_process {
	uint32_t pid;
	uint32_t user; /* as of proc/owner.h, lately */
	char comm[16];
	uint64_t start_ticks;
	uint64_t seen_ms;  /* its figures were read last */
	uint64_t alive_ms; /* it was there */
	bool ended;
	bool fills; /* it takes memory up to a bound, as is known: that is not judged */
	struct series series;
	struct growth_track track;          /* whether it leaks */
	const struct timeline_group *group; /* NULL: in none, or not known */
	struct memory_figures figures;      /* as of `seen_ms` */
};

#define TIMELINE_STATS(STAT)                                                                 \
	STAT(processes, gauge, "Processes whose memory is known, ended ones included")       \
	STAT(groups, gauge, "Control groups whose memory is known")                          \
	STAT(bytes, gauge, "Memory of the timelines of memory")                              \
	STAT(evicted, counter, "Ended processes whose timeline was dropped before its time") \
	STAT(dropped, counter, "Readings of memory not kept for lack of room")               \
	STAT(unjudged, gauge, "Processes that grow and are not judged, for lack of room")

struct timeline_stats {
#define STAT(name, type, help) uint64_t name;
	TIMELINE_STATS(STAT)
#undef STAT
	uint64_t leaking; /* processes whose memory grows steadily */
};

struct timeline *timeline_new(const struct timeline_limits *limits); /* NULL: out of memory */
/* Keeps no more than that from the next reading on. */
void timeline_resize(struct timeline *timeline, size_t max_bytes);
void timeline_free(struct timeline *timeline);
DEFINE_CLEANUP(struct timeline *, timeline_free)

/* What a group uses now; where it is new, this user brought it. NULL when there is no room. */
const struct timeline_group *timeline_group(struct timeline *timeline, const char *path,
                                            uint32_t user, const struct control_group_usage *usage,
                                            uint64_t now_ms);
/* What a process holds now. Another start or name than before is another process or program. */
void timeline_process(struct timeline *timeline, const struct timeline_process *seen);
/* A process is there still, and nobody looked at what it holds. */
void timeline_alive(struct timeline *timeline, uint32_t pid, uint64_t now_ms);
/* Processes neither seen nor alive at `now_ms` have ended; what is too old, or too much, goes;
 * those that live are judged, each every few seconds. */
void timeline_settle(struct timeline *timeline, uint64_t now_ms);

/* NULL: not known. Valid until the next change, as all the rest. */
const struct timeline_process *timeline_find(const struct timeline *timeline, uint32_t pid);
typedef void timeline_fn(const struct timeline_process *process, void *ctx);
void timeline_each(const struct timeline *timeline, timeline_fn *fn, void *ctx);
void timeline_get_stats(const struct timeline *timeline, struct timeline_stats *ret_stats);
