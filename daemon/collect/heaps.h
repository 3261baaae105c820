/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct heaps - heap profiles of single processes, on demand: for as long as one is asked for,
 * probes stand in the process's allocator, and a sample of its allocations is followed until they
 * are freed. Nothing is attached before, after, or in any other process.
 *
 * Sampling is by bytes: each byte allocated has the same chance, 1 in rate_bytes, so an allocation
 * of `size` bytes is met with P = 1 - exp(-size / rate_bytes), and stands for 1 / P allocations of
 * size / P bytes. What was allocated before the probes were attached is not known, and its frees do
 * not count.
 *
 * A probe is a trap into the kernel for every call, sampled or not: some 0.5 us. So calls are
 * counted for a moment first, and a process whose calls would cost more than `budget` is refused,
 * with the figure. It goes on being checked while the profile is taken.
 *
 * Loop thread only. Everything slow (reading files, attaching, detaching) is done on a lane.
 */
#pragma once

#include "heap/heap_table.h"
#include "profile/profile.h"
#include "reader/reader.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	MAX_HEAP_SESSIONS = 4, /* processes watched at once; one more is refused with -EBUSY */
};

struct heap_ask {
	uint32_t pid;
	/* The user who asks, and whose alone the process must be until the probes are in it;
	 * OWNER_UNKNOWN: one who may have any process watched. */
	uint32_t owner;
	uint32_t user; /* who asks, for his share of sessions; 0: root, or no user of this host */
	enum heap_mode mode; /* which of the allocations; of HEAP_LEAKS, those of the window's first
	                        half that are still held at its end */
	uint64_t rate_bytes; /* mean number of bytes from one sample to the next; at least 1 */
	uint64_t length_ns;
	double budget; /* what the probes may cost the process, as a share of one core: 0.1 */
	bool force;    /* whatever it costs */
};

/* Why it did not last as long as was asked for. What was seen until then is the answer. */
#define HEAP_ENDS(END)                                                     \
	END(full, "")                                                      \
	END(exit, "the process ended")                                     \
	END(exec, "the process called exec")                               \
	END(budget, "the calls of the allocator came to cost over budget") \
	END(memory, "its stacks came to take too much of profd's memory")  \
	END(stop, "profd is stopping")

#define END(name, text) HEAP_END_##name,
enum heap_end { HEAP_ENDS(END) };
#undef END

/* What is told beside the samples: for the profile's comments and for a refusal. */
struct heap_figures {
	char allocator[32]; /* "glibc", "jemalloc"; "" where none was found */
	char file[256];     /* that it is in, as the process sees it */
	uint32_t sites;     /* probes */
	/* Files that could not be looked into, so that it may be in one of them, and the first. */
	uint32_t unread;
	char unread_file[256];
	uint64_t rate_bytes;
	uint64_t start_mono_ns, watched_ns; /* what the profile really covers */
	double hits_per_second;             /* before anything was attached but the counter */
	double ns_per_hit;                  /* as measured on this host */
	double predicted_cost;              /* share of one core; hits_per_second * ns_per_hit */
	double actual_cost;                 /* the same of what was met while it ran */
	uint64_t hits;                      /* while it ran */
	uint64_t samples, freed;            /* allocations sampled; those of them that were freed */
	uint64_t dropped;                   /* samples lost: a full ring buffer, table or map */
	enum heap_end end;
	const char *end_text; /* of HEAP_ENDS */
};

/*
 * What done() is told:
 *      0         `profile` is the caller's reference: samples of the values alloc_objects/count,
 *                alloc_space/bytes, inuse_objects/count, inuse_space/bytes, in this order, whose
 *                tasks have pid, comm and the rest but no thread; and no comments: figures has what
 *                they say. Native frames are not named yet, as those of the recorder's slices.
 *      -ESRCH    there is no such process
 *      -EBUSY    it is being watched already, or MAX_HEAP_SESSIONS others are, or as many as the
 *                asking user leaves for others: who comes alone has half, and one is root's
 *      -ENOENT   no allocator was found in it
 *      -EDQUOT   over the budget
 *      -ENOTSUP  this kernel cannot, or not this process (32 bits)
 *      -EACCES, -EPERM  profd may not look into this process, or the asking user may not
 *      others    it failed: -ENOMEM, -ECANCELED when profd is stopping, ...
 * `why` is one line for a person, "" for 0.
 */
struct heap_result {
	int err;
	char why[256];
	struct profile *profile;
	struct heap_figures figures;
};

/* The caller's; stays put from heaps_start() to done() or heaps_cancel(). */
struct heap_watch {
	/* Never called from within heaps_start(). `result` is valid during the call; its profile
	 * is handed over. */
	void (*done)(struct heap_watch *watch, const struct heap_result *result);
	struct heap_session *session; /* ours; NULL once it is over */
};

struct heaps;

/* 0, or -ENOMEM: then done() will not be called. */
int heaps_start(struct heaps *heaps, const struct heap_ask *ask, struct heap_watch *watch);
/* Nobody waits for it any more: detaches soon, done() will not be called. After done(): nothing. */
void heaps_cancel(struct heaps *heaps, struct heap_watch *watch);

/*
 * What is known of a process that samples its own allocations (USDT probes otel_memory:alloc and
 * free, as libprofd-heap.so has them), which are always listened to. 0 and the caller's reference
 * to a profile of the same shape; `figures` tells since when by watched_ns. -ENOENT: it has no
 * such probes, or none has fired yet.
 */
int heaps_standing(struct heaps *heaps, uint32_t pid, enum heap_mode mode,
                   struct profile **ret_profile, struct heap_figures *ret_figures);

/*
 * How much that process has allocated since it is listened to and not freed, as of half a second
 * ago; false: as -ENOENT. Costs a look-up. Of heaps_start() there is no such figure: it would begin
 * at nothing with each session, and what is merely replaced meanwhile would look like growth.
 */
bool heaps_inuse(const struct heaps *heaps, uint32_t pid, uint64_t *ret_bytes);

/* For /status and /metrics; each with its value so far. */
#define HEAP_COUNTERS(COUNTER)                                                                 \
	COUNTER(heap_sessions, "Heap profiles taken")                                          \
	COUNTER(heap_refused, "Heap profiles refused: over the budget, no allocator, busy")    \
	COUNTER(heap_failed, "Heap profiles that failed")                                      \
	COUNTER(heap_ended_early, "Heap profiles that ended before their time")                \
	COUNTER(heap_samples, "Allocations sampled")                                           \
	COUNTER(heap_freed, "Sampled allocations that were freed while watched")               \
	COUNTER(heap_events_lost, "Samples of allocations the ring buffer had no room for")    \
	COUNTER(heap_events_over_share,                                                        \
	        "Samples of allocations not told: their user had told too many already")       \
	COUNTER(heap_addresses_full,                                                           \
	        "Samples of allocations the map of addresses had no room for")                 \
	COUNTER(heap_lane_busy, "Samples of allocations lost because another was being taken") \
	COUNTER(heap_pending_lost, "Calls of allocators whose return was not seen")            \
	COUNTER(heap_table_full, "Samples of allocations the daemon had no room for")          \
	COUNTER(heap_begun_anew,                                                               \
	        "Processes forgotten that sample themselves: their user's share was full")     \
	COUNTER(heap_forgotten, "Samples of allocations that were forgotten with them")        \
	COUNTER(heap_files_refused,                                                            \
	        "Times a file that samples was not listened to: its user's share was full")

struct heaps_stats {
#define COUNTER(name, help) uint64_t name;
	HEAP_COUNTERS(COUNTER)
#undef COUNTER
	uint32_t watching;       /* sessions under way */
	uint32_t standing;       /* processes that sample their own allocations */
	uint64_t standing_bytes; /* memory of what they told */
};

void heaps_get_stats(const struct heaps *heaps, struct heaps_stats *ret_stats);
/* Adds those of the processes that look into files. */
void heaps_add_reader_stats(const struct heaps *heaps, struct reader_stats *stats);
