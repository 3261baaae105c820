/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_feeds - the programs that use GPUs, with one feed for each program of a process. A
 * process is forgotten when it ends or calls exec: what it had in use is dropped then, while what
 * it allocated stays in the slices. Bounded, and shared among users (base/shares.h), because any
 * user can call functions of a file that poses as the driver. What finds no room is counted. What
 * feeds are told comes from gpu/gpu_events.h. Loop thread only.
 */
#pragma once

#include "bpf/user.h"
#include "gpu/gpu_feed.h"
#include "gpu/gpu_stats.h"

enum {
	MAX_GPU_FEEDS = 1024,            /* programs of processes */
	MAX_GPU_FEEDS_BYTES = 256 << 20, /* of all of them */
};

struct gpu_feeds;

struct gpu_feeds_config {
	struct drain_tables tables;
	struct hash_key hash_key; /* of the kernel half: places accounts */
};

struct gpu_feeds *gpu_feeds_new(const struct gpu_feeds_config *config); /* NULL: out of memory */
void gpu_feeds_free(struct gpu_feeds *feeds);                           /* takes NULL */
DEFINE_CLEANUP(struct gpu_feeds *, gpu_feeds_free)

/* The feed of a program, made if there is none; NULL: no room. The process ran the program at
 * `mono_ns`. */
struct gpu_feed *gpu_feeds_get(struct gpu_feeds *feeds, uint32_t pid, uint32_t image,
                               uint64_t mono_ns);
/* The same where none is made; NULL: there is none. */
struct gpu_feed *gpu_feeds_find(const struct gpu_feeds *feeds, uint32_t pid, uint32_t image);
/* Whether the process no longer runs the program that it ran when it was first seen. */
bool gpu_feeds_is_over(const struct gpu_feeds *feeds, const struct gpu_feed *feed);
/* The names of all feeds' handles. */
struct gpu_names *gpu_feeds_names(struct gpu_feeds *feeds);
/* Probes were attached at that time: what programs did before is not all known. */
void gpu_feeds_attached(struct gpu_feeds *feeds, uint64_t mono_ns);
/* Events of the accounts with this place (bpf/user.h) were lost until that time; references may
 * have been among them. A process belongs to the user that ran it when it was first seen. A process
 * whose user is not known may belong to any place. */
void gpu_feeds_lost(struct gpu_feeds *feeds, uint32_t place, uint64_t mono_ns);
/* Finds processes that have ended, by the process table. Call it after all events so far were
 * taken. */
void gpu_feeds_settle(struct gpu_feeds *feeds);

/* KIND_gpu_memory, KIND_gpu_tensor: what was allocated since the previous slice, and how often;
 * what living processes hold. The builder has the kind's value types. 0 or -ENOMEM. */
int gpu_feeds_allocated(struct gpu_feeds *feeds, enum profile_kind kind, struct builder *into,
                        uint64_t *ret_count);
int gpu_feeds_held(struct gpu_feeds *feeds, enum profile_kind kind, struct builder *into);
/* Called after the slices of a half of this length were made. */
void gpu_feeds_drained(struct gpu_feeds *feeds, uint64_t duration_ns);

/* See gpu_each(). */
int gpu_feeds_each(struct gpu_feeds *feeds, gpu_figures_fn *fn, void *ctx);
/* Adds the feeds' counts. */
void gpu_feeds_get_stats(const struct gpu_feeds *feeds, struct gpu_stats *stats);
