/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_feed - what is known of one program of one process: what it allocated and holds on
 * GPUs, by stack, separately for the driver and for its framework; its figures by device; the names
 * of its kernels. Loop thread only.
 */
#pragma once

#include "gpu/gpu_live.h"
#include "gpu/gpu_names.h"
#include "gpu/gpu_paths.h"
#include "gpu/gpu_sums.h"
#include "gpu/gpu_totals.h"

enum {
	GPU_FEED_LAYERS = 2,   /* GPU_LAYER_DRIVER, GPU_LAYER_TENSOR */
	GPU_FEED_DEVICES = 32, /* devices whose primary contexts are known */
};

struct gpu_feed {
	uint32_t pid, image;
	char comm[TASK_COMM_BYTES];
	uint64_t start_ns; /* when it was first seen */
	bool over;         /* the process has ended, or called exec */
	int drains_left;   /* after that, until the feed is forgotten */
	struct gpu_paths paths;
	struct gpu_feed_layer {
		struct gpu_live *live;
		struct gpu_sums sums;
	} layers[GPU_FEED_LAYERS];
	struct gpu_totals totals;
	struct gpu_primary {
		uint64_t context;
		uint32_t references; /* only those seen being taken */
	} primaries[GPU_FEED_DEVICES];
	bool late;             /* there may be references to primary contexts that were not seen */
	struct gpu_live *maps; /* where physical memory is mapped; NULL: nowhere yet */
	struct gpu_handles handles;
	uint64_t failed_second; /* start of the second in which failures are counted */
	uint32_t failed_kept;   /* failures in that second */
};

/* Counts over the feeds of all processes. */
struct gpu_feed_counts {
	uint64_t table_full;    /* allocations that are not held, or not counted */
	uint64_t stacks_full;   /* allocations whose stacks found no room */
	uint64_t contexts_full; /* allocations that their context does not end: no room for it */
	uint64_t maps_full; /* mappings that are not kept in the table, so they keep no memory */
};

/* NULL: out of memory. */
struct gpu_feed *gpu_feed_new(const struct drain_tables *tables, uint32_t pid, uint32_t image,
                              uint64_t mono_ns);
void gpu_feed_free(struct gpu_feed *feed); /* takes NULL; gpu_names_forget() comes first */
DEFINE_CLEANUP(struct gpu_feed *, gpu_feed_free)

/* An allocation of one of the two layers, with its stack; and its free. */
void gpu_feed_alloc(struct gpu_feed *feed, const struct gpu_event *event, const uint64_t *words,
                    struct gpu_feed_counts *counts);
void gpu_feed_release(struct gpu_feed *feed, const struct gpu_event *event);
/* Takes an event about contexts, references or mappings, which may end allocations
 * (gpu_ends.c). */
void gpu_feed_end(struct gpu_feed *feed, const struct gpu_event *event,
                  struct gpu_feed_counts *counts);
/* An allocation that returned no memory. The profile has what is held now, and this allocation; 0
 * or -ENOMEM. */
void gpu_feed_failed(struct gpu_feed *feed, const struct gpu_event *event);
int gpu_feed_failure(struct gpu_feed *feed, const struct gpu_event *event, const uint64_t *words,
                     struct profile **ret_profile);
/* What was allocated since the previous call; what is held. 0 or -ENOMEM. */
int gpu_feed_allocated(struct gpu_feed *feed, enum gpu_layer layer, struct builder *into,
                       uint64_t *ret_count);
int gpu_feed_held(struct gpu_feed *feed, enum gpu_layer layer, struct builder *into);
/* Bytes held in a layer. */
uint64_t gpu_feed_bytes(const struct gpu_feed *feed, enum gpu_layer layer);
uint64_t gpu_feed_unmatched(struct gpu_feed *feed, uint64_t now_ns);
size_t gpu_feed_memory(const struct gpu_feed *feed);
