/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct heap_tellers - processes that report their own allocations, and what they have reported so
 * far. Any user may run such programs, any number of them, and they may report as much as they
 * like. So memory is counted in bytes over all of them, tables included, and each user has a share
 * of it (base/shares.h): a single user gets half. A process that would exceed its user's share is
 * forgotten, and starts anew with its next report. Loop thread only.
 */
#pragma once

#include "base/shares.h"
#include "heap/heap_feed.h"
#include "heap/heaps_stats.h"

enum {
	MAX_STANDING_PROCESSES = 1024,      /* at once */
	MAX_STANDING_BYTES = 32 << 20,      /* of one process */
	MAX_STANDING_BYTES_ALL = 256 << 20, /* of all of them */
	STANDING_REFUSED = 1024,            /* remembered refusals; a power of two */
};

struct teller {
	uint32_t pid, owner;
	uint64_t image_ns; /* when its program started */
	uint64_t start_mono_ns;
	struct heap_feed *feed;
	size_t bytes; /* charged to its user's share */
};

struct teller_entry;

struct heap_tellers {
	struct drain_tables tables;
	struct heaps_stats *stats;
	struct teller_entry *by_pid;
	struct shares process_shares, byte_shares; /* by user */
	uint32_t refused[STANDING_REFUSED];        /* pids refused since the last expiry; 0: none */
};

void heap_tellers_init(struct heap_tellers *tellers, const struct drain_tables *tables,
                       struct heaps_stats *stats);
void heap_tellers_release(struct heap_tellers *tellers);

struct teller *heap_tellers_find(const struct heap_tellers *tellers, uint32_t pid); /* or NULL */
/* The entry for this program of the process, made when there is none. NULL: the user's share is
 * used up, or out of memory. */
struct teller *heap_tellers_get(struct heap_tellers *tellers, uint32_t pid,
                                const struct image *image, uint64_t mono_ns);
/* Call after its feed took an event. The process may be forgotten, which is counted. */
void heap_tellers_charge(struct heap_tellers *tellers, struct teller *teller);
/* Forgets processes that have ended. Called some times a minute. */
void heap_tellers_expire(struct heap_tellers *tellers);
uint32_t heap_tellers_count(const struct heap_tellers *tellers);
