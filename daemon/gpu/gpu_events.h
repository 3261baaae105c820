/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_events - takes what programs report about GPUs: memory, and what ends it, to the
 * feed of the program (gpu/gpu_feeds.h); names of kernels to its handles, where need be after they
 * were fetched from the process (gpu/gpu_name_fetch.h); launches and kernels that ran to struct
 * gpu_kernels. Events are bytes that the kernel half sends about what programs chose to do; they
 * are checked. Loop thread only.
 */
#pragma once

#include "gpu/gpu_feeds.h"
#include "gpu/gpu_kernels.h"
#include "memory/keepsakes.h"

/* Failures of a process in a second whose profiles are kept: PyTorch tries again after freeing its
 * cache, and then reports the failure itself. */
enum { GPU_FAILURES_A_SECOND = 4 };

struct gpu_events;

struct gpu_events_config {
	struct gpu_feeds *feeds; /* outlives the events */
	struct drain_tables tables;
	/* See struct gpu_config; NULL: nobody wants the profiles. */
	void (*out_of_memory)(const struct keepsake *what, void *ctx);
	void *ctx;
};

struct gpu_events *gpu_events_new(const struct gpu_events_config *config); /* NULL: out of memory */
void gpu_events_free(struct gpu_events *events);                           /* takes NULL */
DEFINE_CLEANUP(struct gpu_events *, gpu_events_free)

/* Takes a struct gpu_event with its words. Bytes that are no such event are counted. */
void gpu_events_take(struct gpu_events *events, const void *bytes, size_t len);
/* Waits a moment for names that are being read from processes. */
void gpu_events_await_names(struct gpu_events *events);
struct gpu_kernels *gpu_events_kernels(struct gpu_events *events);
/* Sets the counts of events, and those of kernels. */
void gpu_events_get_stats(const struct gpu_events *events, struct gpu_stats *stats);
