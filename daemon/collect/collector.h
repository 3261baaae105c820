/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct collector - the kernel half and everything that talks to it, as one thing that fills a
 * history. Only collect/ sees the BPF skeleton and the maps. Loop thread only.
 */
#pragma once

#include "bpf/abi.h"
#include "collect/growth_wanted.h"
#include "collect/heartbeat.h"
#include "collect/memory_watch.h"
#include "interp/python_codes.h"
#include "interp/python_threads.h"
#include "interp/pythons.h"
#include "proc/proc.h"
#include "profile/history.h"
#include "unwind/unwinder.h"

#include <uv.h>

/* By enum counter. */
extern const char *const counter_names[COUNTER_COUNT];
extern const char *const counter_help[COUNTER_COUNT];

/* What the daemon's own half counts, on top of COUNTERS; each with its value so far. */
#define COLLECTOR_COUNTERS(COUNTER)                                                               \
	COUNTER(drains, "Times the kernel's tallies were drained")                                \
	COUNTER(drains_unsettled, "Drains that did not wait for a CPU that is counted on always") \
	COUNTER(drains_overdue, "Drains begun though a CPU had been taking a sample for 2 s, "    \
	                        "which is counted later or lost")                                 \
	COUNTER(drain_errors, "Drains that failed; what they held is counted as lost")            \
	COUNTER(samples_lost_in_drain, "Samples lost because a drain failed or memory was out")   \
	COUNTER(sideband_records, "Process and mapping events read")                              \
	COUNTER(sideband_lost, "Process and mapping events that the kernel had no room for")      \
	COUNTER(frames_unmapped, "User frames outside every known mapping of their process")      \
	COUNTER(frames_without_stack, "Samples whose stack was not in the drained map")           \
	COUNTER(images_missing, "Samples of processes that could not be identified any more")     \
	COUNTER(python_codes_unknown,                                                             \
	        "Python frames whose code object was not told, or is forgotten")                  \
	COUNTER(python_words_misplaced, "Parts of Python frames that stood alone")

struct collector;
struct gpu;
struct heaps;
struct own_cost;

struct collector_stats {
	uint64_t counters[COUNTER_COUNT]; /* as of the last boundary, so that they add up */
#define COUNTER(name, help) uint64_t name;
	COLLECTOR_COUNTERS(COUNTER)
#undef COUNTER
	uint64_t last_drain_ns;              /* how long it took */
	uint32_t tallies_used, tallies_size; /* of the last drained half */
	uint32_t stacks_used, stacks_size;
	uint64_t taking_ns; /* that taking samples took in the kernel, as of the last boundary */
	struct crew_stats opener;      /* of files that processes map */
	struct crew_stats maps_reader; /* of processes' lists of mappings */
	struct unwinder_stats unwinder;
	struct reader_stats readers; /* of all but the one for names */
	struct pythons_stats pythons;
	struct python_codes_stats python_codes;
	struct python_threads_stats python_threads;
	uint32_t cpus_sampled;
	const char *event; /* "cycles" or "cpu-clock" */
};

/* A kind of profile and whether it runs. */
struct source_status {
	const char *name;
	bool on;
	const char *why; /* it is off; "" when on */
	uint64_t period; /* of its samples */
};

/* What it works with; all of it outlives the collector. */
struct collector_config {
	uv_loop_t *loop;
	struct procs *procs;
	struct store *store;
	struct history *history;
	uint32_t sample_hz;
	size_t unwind_bytes; /* of kernel memory for unwind tables and mappings */
	uint64_t keep_ns;    /* how far back the history goes at most */
	size_t memory_bytes; /* for the timelines of memory, see collect/memory_watch.h */
	struct growth_wanted growth;
	bool gpu_off;               /* nothing is attached that tells of GPUs */
	void (*drained)(void *ctx); /* each time a drain has gone well; may be NULL */
	void *ctx;
};

/* Loads the kernel half. On failure `ret_why` is one line for a person: what is missing, what to
 * do. */
int collector_new(const struct collector_config *config, struct collector **ret_collector,
                  char ret_why[256]);
/* Samples are taken from now on. */
int collector_attach(struct collector *collector, char ret_why[256]);
/* Scans /proc and starts draining. */
int collector_start(struct collector *collector);
/* Detaches everything at once, started or not; the loop must run until its handles have closed,
 * then collector_free(). */
void collector_stop(struct collector *collector);
void collector_free(struct collector *collector);

/* See struct cut. */
void collector_cut(struct collector *collector, struct cut *cut);
/* Forgets a cut that is no longer wanted; done() will not be called. */
void collector_cancel(struct collector *collector, struct cut *cut);

/* True once a first drain has gone well. */
bool collector_ready(const struct collector *collector);
void collector_get_stats(const struct collector *collector, struct collector_stats *ret_stats);
/* CPU time that profd itself has taken, of all its processes and programs. */
uint64_t collector_own_cpu_ns(const struct collector *collector);
/* All that it costs; collect/own_cost.h. Takes a fraction of a millisecond: for who asks. */
void collector_own_cost(struct collector *collector, struct own_cost *ret_cost);
/* What all processes have in use now, of a kind that has source.in_use: a slice. 0 or -ENOMEM. */
int collector_in_use(struct collector *collector, enum profile_kind kind,
                     struct profile **ret_profile);
/* Heap profiles of single processes; collect/heaps.h. The collector's. */
struct heaps *collector_heaps(struct collector *collector);
/* GPUs: collect/gpu.h. The collector's. */
struct gpu *collector_gpu(struct collector *collector);
/* How much memory processes hold, and held. */
/* As `memory_bytes` of its configuration. */
void collector_resize(struct collector *collector, size_t memory_bytes);
struct memory_watch *collector_memory(const struct collector *collector);
/* Entry `index` of the sources, or false at the end. */
bool collector_source(const struct collector *collector, size_t index,
                      struct source_status *ret_status);
