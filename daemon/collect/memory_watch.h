/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct memory_watch - looks at how much memory every process holds, once a second at those that
 * do something and less often at the others, and keeps the profile of those that run out of it.
 * /proc is read on a lane of its own, so that a host with many processes keeps nobody waiting;
 * everything else here is for the loop thread.
 */
#pragma once

#include "base/cleanup.h"
#include "memory/keepsakes.h"
#include "memory/timeline.h"

#include <uv.h>

struct bpf;
struct collector;
struct heaps;
struct memory_watch;
struct procs;
struct recorder;

enum { MEMORY_WATCH_MS = 1000 };

/* What it works with; all of it outlives the watch. */
struct memory_watch_config {
	uv_loop_t *loop;
	struct procs *procs;
	const struct heaps *heaps; /* which know how much some have in use */
	struct collector *collector;
	struct recorder *growth; /* of resident memory, by stack */
	uint64_t keep_ns;
	size_t max_bytes; /* of the timelines; and as much again of what is kept of processes */
};

#define MEMORY_WATCH_STATS(STAT)                                                                   \
	STAT(readings, counter, "Times the memory of all processes was read")                      \
	STAT(readings_failed, counter, "Readings of memory that failed")                           \
	STAT(readings_late, counter, "Readings of memory left out: the last was under way")        \
	STAT(reading_seconds, seconds, "CPU time spent reading the memory of all processes")       \
	STAT(oom_kills, counter, "Processes that the kernel killed for lack of memory")            \
	STAT(oom_kills_lost, counter, "Such that were not heard of: too many at once")             \
	STAT(groups_refused, counter, "Times a control group was not looked at, for lack of room") \
	STAT(near_limit, counter, "Times a process was near the limit of memory")                  \
	STAT(snapshots_failed, counter, "Memory profiles that could not be kept: too many at once")

struct memory_watch_stats {
#define STAT(name, type, help) uint64_t name;
	MEMORY_WATCH_STATS(STAT)
#undef STAT
};

struct memory_watch *memory_watch_new(const struct memory_watch_config *config); /* NULL: memory */
/* After the programs are loaded. */
int memory_watch_start(struct memory_watch *watch, struct bpf *bpf);
/* Started or not, or NULL; memory_watch_free() after the loop has run out. */
void memory_watch_stop(struct memory_watch *watch);
void memory_watch_free(struct memory_watch *watch);

/* A process may hold more than it did, or less: it runs, it grew, or somebody asks. */
void memory_watch_note(struct memory_watch *watch, uint32_t pid);
/* Reads what is due, if the last time is a second ago; often. */
void memory_watch_beat(struct memory_watch *watch);
/* As `max_bytes` of its configuration. */
void memory_watch_resize(struct memory_watch *watch, size_t max_bytes);
const struct timeline *memory_watch_timeline(const struct memory_watch *watch);
/* Keeps what somebody else has seen of a process that had no memory; the profile is taken over. */
void memory_watch_keep(struct memory_watch *watch, const struct keepsake *what);
const struct keepsakes *memory_watch_keepsakes(const struct memory_watch *watch);
/* Why it is not told of kills; "" when it is. */
const char *memory_watch_why(const struct memory_watch *watch);
void memory_watch_get_stats(const struct memory_watch *watch, struct memory_watch_stats *ret_stats);
