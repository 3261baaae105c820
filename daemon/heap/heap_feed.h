/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct heap_feed - takes the events of one process. Stacks become call paths while the process
 * still has its mappings, and allocations and frees meet in a heap table. At the end, or whenever
 * the caller asks, both become a profile. Loop thread only.
 */
#pragma once

#include "allocators/heap_table.h"
#include "bpf/heap.h"
#include "ingest/drain.h"

struct heap_feed;

/* An event, with the weight that it stands for. */
struct heap_fed {
	const struct heap_event *event;
	const uint64_t *words; /* event->words of them, not 0 for an allocation */
	struct heap_weight weight;
};

/* What a profile covers and how it was made. */
struct heap_span {
	uint64_t start_mono_ns, end_mono_ns;
	uint64_t rate_bytes; /* 0: each sample has its own */
};

/* Keeps a copy of `tables`; NULL when out of memory. */
struct heap_feed *heap_feed_new(const struct drain_tables *tables, uint32_t pid);
void heap_feed_free(struct heap_feed *feed); /* takes NULL */
DEFINE_CLEANUP(struct heap_feed *, heap_feed_free)

void heap_feed_alloc(struct heap_feed *feed, const struct heap_fed *fed);
void heap_feed_free_address(struct heap_feed *feed, uint64_t address, uint64_t mono_ns);
/* 0 or -ENOMEM. The feed can still be used. */
int heap_feed_profile(struct heap_feed *feed, enum heap_mode mode, const struct heap_span *span,
                      struct profile **ret_profile);
void heap_feed_get_stats(const struct heap_feed *feed, struct heap_table_stats *ret_stats);
size_t heap_feed_memory(const struct heap_feed *feed); /* bytes of the call paths and the table */
