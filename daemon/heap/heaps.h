/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct heaps - heap profiles of single processes, on demand. While a profile is taken, there are
 * probes in the process's allocator, and a sample of its allocations is followed until they are
 * freed. Nothing is attached before or after that, or in any other process.
 *
 * Sampling is by bytes: each allocated byte has the same chance, 1 in rate_bytes. So an allocation
 * of `size` bytes is sampled with P = 1 - exp(-size / rate_bytes), and stands for 1 / P allocations
 * of size / P bytes. Memory that was allocated before the probes were attached is not known, and
 * its frees do not count.
 *
 * A probe is a trap into the kernel for every call, sampled or not, of some 0.5 us. So calls are
 * counted for a moment first. A process whose calls would cost more than `budget` is refused, and
 * the refusal has the figure. The cost goes on being checked while the profile is taken.
 *
 * Loop thread only. Everything slow (reading files, attaching, detaching) is done on a lane.
 */
#pragma once

#include "allocators/heap_table.h"
#include "profile/profile.h"
#include "reader/reader.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	MAX_HEAP_SESSIONS = 4, /* processes watched at once; one more is refused with -EBUSY */
};

struct heap_ask {
	uint32_t pid;
	/* The user who asks. The process must belong to this user alone until the probes are in it.
	 * OWNER_UNKNOWN: the client may have any process watched. */
	uint32_t owner;
	/* The user who asks, for the share of sessions. 0: root, or no user of this host. */
	uint32_t user;
	/* Which allocations; HEAP_LEAKS: those made in the first half of the window and still held
	 * at its end. */
	enum heap_mode mode;
	uint64_t rate_bytes; /* mean number of bytes from one sample to the next; at least 1 */
	uint64_t length_ns;
	double budget; /* what the probes may cost the process, as a share of one core: 0.1 */
	bool force;    /* go on whatever it costs */
};

/* Why a profile ended before the requested time. The answer has what was seen until then. */
#define HEAP_ENDS(END)                                                       \
	END(full, "")                                                        \
	END(exit, "the process ended")                                       \
	END(exec, "the process called exec")                                 \
	END(budget, "the cost of the allocator's calls exceeded the budget") \
	END(memory, "its stacks took too much of profd's memory")            \
	END(stop, "profd is stopping")

#define END(name, text) HEAP_END_##name,
enum heap_end { HEAP_ENDS(END) };
#undef END

/* The figures beside the samples: for the profile's comments and for a refusal. */
struct heap_figures {
	char allocator[32]; /* "glibc", "jemalloc"; "" where none was found */
	char file[256];     /* the file that it is in, as the process sees it */
	uint32_t sites;     /* number of probes */
	/* Files that could not be read, so that the allocator may be in one of them, and the first
	 * of them. */
	uint32_t unread;
	char unread_file[256];
	uint64_t rate_bytes;
	uint64_t start_mono_ns, watched_ns; /* what the profile really covers */
	double hits_per_second;  /* before anything but the counting probes was attached */
	double ns_per_hit;       /* as measured on this host */
	double predicted_cost;   /* share of one core; hits_per_second * ns_per_hit */
	double actual_cost;      /* share of one core, from the hits met while it ran */
	uint64_t hits;           /* while it ran */
	uint64_t samples, freed; /* allocations sampled; those of them that were freed */
	uint64_t dropped;        /* samples lost: a full ring buffer, table or map */
	enum heap_end end;
	const char *end_text; /* of HEAP_ENDS */
};

/*
 * What done() gets:
 *      0         `profile` is the caller's reference: samples of the values alloc_objects/count,
 *                alloc_space/bytes, inuse_objects/count, inuse_space/bytes, in this order, whose
 *                tasks have pid, comm and the rest but no thread; and no comments: these are made
 *                from `figures`. Native frames have no names yet, as in the recorder's slices.
 *      -ESRCH    there is no such process
 *      -EBUSY    the process is being watched already, or MAX_HEAP_SESSIONS others are, or the
 *                share of the user who asks is used up: a single user gets half; the last one is
 *                root's
 *      -ENOENT   no allocator was found in the process
 *      -EDQUOT   over the budget
 *      -ENOTSUP  this kernel cannot watch, or not this process (32 bits)
 *      -EACCES, -EPERM  profd may not inspect this process, or the user who asks may not
 *      others    it failed: -ENOMEM, -ECANCELED when profd is stopping, ...
 * `why` is one line for a person, "" for 0.
 */
struct heap_result {
	int err;
	char why[256];
	struct profile *profile;
	struct heap_figures figures;
};

/* Owned by the caller; stays put from heaps_start() to done() or heaps_cancel(). */
struct heap_watch {
	/* Never called from within heaps_start(). `result` is valid during the call; its profile
	 * is handed over. */
	void (*done)(struct heap_watch *watch, const struct heap_result *result);
	struct heap_session *session; /* private to heaps; NULL once it is over */
};

struct heaps;

/* 0, or -ENOMEM: then done() is not called. */
int heaps_start(struct heaps *heaps, const struct heap_ask *ask, struct heap_watch *watch);
/* The client no longer waits: detaches soon, and done() is not called. After done(): does
 * nothing. */
void heaps_cancel(struct heaps *heaps, struct heap_watch *watch);

/*
 * The profile of a process that samples its own allocations (USDT probes otel_memory:alloc and
 * free, as in libprofd-heap.so). Such processes are always listened to. 0 and the caller's
 * reference to a profile of the same shape; `watched_ns` of `figures` says for how long it has been
 * listened to. -ENOENT: the process has no such probes, or none has fired yet.
 */
int heaps_standing(struct heaps *heaps, uint32_t pid, enum heap_mode mode,
                   struct profile **ret_profile, struct heap_figures *ret_figures);

/*
 * How many bytes that process has allocated and not freed since profd began to listen to it, as of
 * half a second ago; false: as -ENOENT. Costs a look-up. Sessions of heaps_start() have no such
 * figure: it would begin at zero with each session, and memory that is only replaced meanwhile
 * would look like growth.
 */
bool heaps_inuse(const struct heaps *heaps, uint32_t pid, uint64_t *ret_bytes);

/* For /status and /metrics. COUNTER(name, help). */
#define HEAP_COUNTERS(COUNTER)                                                                    \
	COUNTER(heap_sessions, "Heap profiles taken")                                             \
	COUNTER(heap_refused,                                                                     \
	        "Heap profiles refused, such as for the budget or for lack of an allocator")      \
	COUNTER(heap_failed, "Heap profiles that failed")                                         \
	COUNTER(heap_ended_early, "Heap profiles that ended early")                               \
	COUNTER(heap_samples, "Allocations sampled")                                              \
	COUNTER(heap_freed, "Sampled allocations that were freed while watched")                  \
	COUNTER(heap_events_lost, "Samples of allocations lost because the ring buffer was full") \
	COUNTER(heap_events_over_share, "Samples of allocations lost because their user's share " \
	                                "of the ring buffer was full")                            \
	COUNTER(heap_addresses_full,                                                              \
	        "Samples of allocations lost because the map of addresses was full")              \
	COUNTER(heap_lane_busy,                                                                   \
	        "Samples of allocations lost because the CPU was taking another one")             \
	COUNTER(heap_pending_lost, "Calls of allocators whose return was not seen")               \
	COUNTER(heap_table_full,                                                                  \
	        "Samples of allocations lost because the daemon had no room for them")            \
	COUNTER(heap_begun_anew,                                                                  \
	        "Standing heaps dropped and begun anew because their user's share was full")      \
	COUNTER(heap_forgotten,                                                                   \
	        "Samples of allocations lost because their standing heap was dropped")            \
	COUNTER(heap_files_refused, "Times that a file with static probes was refused because "   \
	                            "its user's share was full")                                  \
	COUNTER(heap_files_untrusted, "Times that a file with static probes was refused because " \
	                              "its user is not trusted")

struct heaps_stats {
#define COUNTER(name, help) uint64_t name;
	HEAP_COUNTERS(COUNTER)
#undef COUNTER
	uint32_t watching;       /* sessions under way */
	uint32_t standing;       /* processes that sample their own allocations */
	uint64_t standing_bytes; /* memory for what they reported */
};

void heaps_get_stats(const struct heaps *heaps, struct heaps_stats *ret_stats);
/* Adds the statistics of the reader processes. */
void heaps_add_reader_stats(const struct heaps *heaps, struct reader_stats *stats);
