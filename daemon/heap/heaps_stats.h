/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct heaps_stats - what heaps, their sessions and the standing heaps count, for /status and
 * /metrics.
 */
#pragma once

#include <stdint.h>

/* COUNTER(name, help). */
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
	COUNTER(heap_searches_put_off,                                                            \
	        "Times that a file was not searched for static probes yet for lack of room")      \
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
