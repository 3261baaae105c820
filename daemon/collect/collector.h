/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct collector - the kernel half and everything that communicates with it, as one unit that
 * fills a history. Loop thread only.
 */
#pragma once

#include "bpf/abi.h"
#include "collect/memory_watch.h"
#include "ingest/drain.h"
#include "kernel/growth_wanted.h"
#include "kernel/heartbeat.h"
#include "proc/proc.h"
#include "profile/history.h"
#include "unwind/unwinder.h"

#include <uv.h>

/* What the daemon itself counts, in addition to COUNTERS. Each has its value since the start. */
#define COLLECTOR_COUNTERS(COUNTER)                                                                \
	COUNTER(drains, "Drains of the kernel's tallies")                                          \
	COUNTER(drains_unsettled,                                                                  \
	        "Drains begun after 500 ms while BPF programs may still have used the half")       \
	COUNTER(drains_overdue, "Drains begun although a CPU had been taking a sample for 2 s; "   \
	                        "it is counted later or lost")                                     \
	COUNTER(drain_errors, "Drains that failed; their samples are counted as lost")             \
	COUNTER(samples_lost_in_drain, "Samples lost because a drain failed or ran out of memory") \
	COUNTER(sideband_records, "Side-band records read: mmap, fork, exec, comm and exit")       \
	COUNTER(sideband_lost, "Side-band records lost because the kernel's buffer was full")      \
	COUNTER(frames_unmapped,                                                                   \
	        "User stacks with a frame outside the known mappings of their process")            \
	COUNTER(frames_without_stack,                                                              \
	        "User stacks missing, in whole or in part, from the drained stack map")            \
	COUNTER(images_missing, "Samples of processes that were not in the process table")         \
	COUNTER(codes_unknown, "Interpreted frames whose code was not reported or was evicted")    \
	COUNTER(words_misplaced, "Interpreted frames of which one of two words was missing")

struct collector;
struct gpu;
struct heaps;
struct jit;
struct own_cost;
struct runtime_tasks_plan;
struct runtimes;

struct collector_stats {
	uint64_t counters[COUNTER_COUNT]; /* as of the last boundary, so that they add up */
#define COUNTER(name, help) uint64_t name;
	COLLECTOR_COUNTERS(COUNTER)
#undef COUNTER
	uint64_t last_drain_ns;              /* duration of the last drain */
	uint32_t tallies_used, tallies_size; /* of the last drained half */
	uint32_t stacks_used, stacks_size;
	uint64_t taking_ns; /* time spent taking samples in the kernel, as of the last boundary */
	struct crew_stats opener;      /* opens the files that processes map */
	struct crew_stats maps_reader; /* reads processes' lists of mappings */
	struct unwinder_stats unwinder;
	struct reader_stats readers; /* all reader processes but the one that names code */
	uint32_t cpus_sampled;
	const char *event; /* "cycles" or "cpu-clock" */
};

/* A kind of profile, and whether it is recorded. */
struct source_status {
	const char *name;
	bool on;
	const char *why;   /* why it is off; "" when it is on */
	uint64_t period;   /* of its samples */
	const char *event; /* what its samples count; NULL: there is no choice */
};

/* Adds the counters of a drained half and the daemon's losses to the statistics. */
void collector_stats_add(struct collector_stats *stats, const struct drained *drained,
                         const struct drain_losses *losses);

/* What the collector works with. All of it outlives the collector. */
struct collector_config {
	uv_loop_t *loop;
	struct procs *procs;
	struct store *store;
	struct history *history;
	uint32_t sample_hz;
	size_t unwind_bytes; /* bound on kernel memory for unwind tables and mappings */
	uint64_t keep_ns;    /* how far back the history goes at most */
	size_t memory_bytes; /* for the timelines of memory, see collect/memory_watch.h */
	struct growth_wanted growth;
	bool waits;                 /* record where threads wait */
	bool faults;                /* record page faults */
	bool gpu_off;               /* attach nothing that observes GPUs */
	void (*drained)(void *ctx); /* called after each successful drain; may be NULL */
	void *ctx;
};

/* Loads the kernel half. On failure `ret_why` is one line for the user: what is missing, and what
 * to do. */
int collector_new(const struct collector_config *config, struct collector **ret_collector,
                  char ret_why[256]);
/* Attaches the sources. Samples are taken from now on. */
int collector_attach(struct collector *collector, char ret_why[256]);
/* Scans /proc and starts draining. */
int collector_start(struct collector *collector);
/* Detaches everything at once, whether or not the collector was started. The loop must run until
 * the handles are closed; then call collector_free(). */
void collector_stop(struct collector *collector);
void collector_free(struct collector *collector);

/* Asks for a boundary; see struct cut. */
void collector_cut(struct collector *collector, struct cut *cut);
/* Cancels a request for a boundary; done() will not be called. */
void collector_cancel(struct collector *collector, struct cut *cut);

/* True once a drain has succeeded. */
bool collector_ready(const struct collector *collector);
void collector_get_stats(const struct collector *collector, struct collector_stats *ret_stats);
/* CPU time of profd itself in nanoseconds: of all its processes and BPF programs. */
uint64_t collector_own_cpu_ns(const struct collector *collector);
/* All costs of profd itself; see collect/own_cost.h. Takes a fraction of a millisecond, so call it
 * only when it is asked for. */
void collector_own_cost(struct collector *collector, struct own_cost *ret_cost);
/* Makes a slice of what all processes have in use now. The kind must have source.in_use. 0 or
 * -ENOMEM. */
int collector_in_use(struct collector *collector, enum profile_kind kind,
                     struct profile **ret_profile);
/* Heap profiles of single processes; see heap/heaps.h. Owned by the collector. */
struct heaps *collector_heaps(struct collector *collector);
/* What interpreted code runs; see runtimes/runtimes.h. Owned by the collector. */
const struct runtimes *collector_runtimes(const struct collector *collector);
/* The names of generated code; see jit/jit.h. Owned by the collector. */
struct jit *collector_jit(const struct collector *collector);
/* As runtimes_plan_tasks(). */
const char *collector_plan_tasks(const struct collector *collector, uint32_t pid,
                                 struct runtime_tasks_plan *ret_plan);
/* Whether the memory that was read by that plan was that of the program that was known when it was
 * made: -ESRCH when the process is gone, -EAGAIN when it may have called exec, so that it may be a
 * program with other privileges. Any thread that ends before the collector is freed. */
int collector_check_tasks(const struct collector *collector, const struct runtime_tasks_plan *plan);
/* GPUs; see gpu/gpu.h. Owned by the collector. */
struct gpu *collector_gpu(struct collector *collector);
/* Changes `memory_bytes` of the configuration. */
void collector_resize(struct collector *collector, size_t memory_bytes);
/* How much memory processes hold, and held; see collect/memory_watch.h. Owned by the collector. */
struct memory_watch *collector_memory(const struct collector *collector);
/* Gets entry `index` of the sources; false at the end. */
bool collector_source(const struct collector *collector, size_t index,
                      struct source_status *ret_status);
