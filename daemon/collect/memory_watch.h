/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct memory_watch - reads how much memory each process holds, once a second for active
 * processes and less often for the others, and keeps the profile of those that run out of memory.
 * /proc is read on a lane of its own, so that a host with many processes delays nothing else.
 * Everything else here is for the loop thread.
 */
#pragma once

#include "base/cleanup.h"
#include "memory/keepsakes.h"
#include "memory/timeline.h"

#include <uv.h>

struct bpf;
struct heaps;
struct heartbeat;
struct memory_watch;
struct procs;
struct recorder;
struct source_state;

enum { MEMORY_WATCH_MS = 1000 };

/* Everything that this refers to outlives the watch. */
struct memory_watch_config {
	uv_loop_t *loop;
	struct procs *procs;
	const struct heaps *heaps; /* they know how much some processes have in use */
	struct heartbeat *heartbeat;
	struct recorder *growth;           /* of resident memory, by stack */
	const struct source_state *source; /* of these samples */
	uint64_t keep_ns;
	size_t max_bytes; /* of the timelines; the keepsakes get as much again */
};

#define MEMORY_WATCH_STATS(STAT)                                                                  \
	STAT(readings, counter, "Readings of the memory of all processes")                        \
	STAT(readings_failed, counter, "Readings of memory that failed")                          \
	STAT(readings_late, counter,                                                              \
	     "Readings of memory skipped because the previous one was still running")             \
	STAT(reading_seconds, seconds, "CPU time spent reading the memory of all processes")      \
	STAT(oom_kills, counter, "Processes that the kernel killed for lack of memory")           \
	STAT(oom_kills_lost, counter,                                                             \
	     "Kills for lack of memory that were not reported because too many came at once")     \
	STAT(groups_refused, counter, "Times that a control group was not read for lack of room") \
	STAT(near_limit, counter, "Times that a process was near the limit of memory")            \
	STAT(snapshots_failed, counter,                                                           \
	     "Memory profiles not kept because too many were being made at once")

struct memory_watch_stats {
#define STAT(name, type, help) uint64_t name;
	MEMORY_WATCH_STATS(STAT)
#undef STAT
};

/* NULL: out of memory. */
struct memory_watch *memory_watch_new(const struct memory_watch_config *config);
/* Call after the BPF programs are loaded. */
void memory_watch_start(struct memory_watch *watch, struct bpf *bpf);
/* Takes a watch that was started or not, or NULL. Call memory_watch_free() after the loop has run
 * out. */
void memory_watch_stop(struct memory_watch *watch);
void memory_watch_free(struct memory_watch *watch);

/* The process may hold more than before, or less: it runs, it grew, or a client asks about it. */
void memory_watch_note(struct memory_watch *watch, uint32_t pid);
/* Reads what is due, if the last reading was a second ago. Called often. */
void memory_watch_beat(struct memory_watch *watch);
/* Changes `max_bytes` of the configuration. */
void memory_watch_resize(struct memory_watch *watch, size_t max_bytes);
const struct timeline *memory_watch_timeline(const struct memory_watch *watch);
/* Keeps what another module has seen of a process that found no memory; takes over the profile. */
void memory_watch_keep(struct memory_watch *watch, const struct keepsake *what);
const struct keepsakes *memory_watch_keepsakes(const struct memory_watch *watch);
/* Why kills are not reported to the watch; "" when they are. */
const char *memory_watch_why(const struct memory_watch *watch);
void memory_watch_get_stats(const struct memory_watch *watch, struct memory_watch_stats *ret_stats);
