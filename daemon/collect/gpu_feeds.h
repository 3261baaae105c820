/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct gpu_feeds - what the events of all processes come to. A process is forgotten when it ends
 * or calls exec: what it had in use is nobody's then, while what it allocated is in the slices.
 * Events are bytes of the kernel half about what programs chose, and are checked. Bounded, and
 * shared among users (base/shares.h), for anybody may call what he has called a driver; what finds
 * no room is counted. Loop thread only.
 */
#pragma once

#include "bpf/user.h"
#include "collect/gpu.h"
#include "collect/gpu_feed.h"
#include "collect/gpu_kernels.h"

enum {
	MAX_GPU_FEEDS = 1024,            /* programs of processes */
	MAX_GPU_FEEDS_BYTES = 256 << 20, /* of all of them */
	GPU_FAILURES_A_SECOND = 4, /* of a process that are kept: PyTorch tries again after freeing
	                              its cache, and then says so itself */
};

struct gpu_feeds;

struct gpu_feeds_config {
	struct drain_tables tables;
	void (*out_of_memory)(const struct keepsake *what, void *ctx); /* as of struct gpu_config */
	void *ctx;
	struct hash_key hash_key; /* the kernel half's, by which accounts have their places */
};

struct gpu_feeds *gpu_feeds_new(const struct gpu_feeds_config *config); /* NULL: out of memory */
void gpu_feeds_free(struct gpu_feeds *feeds);                           /* takes NULL */
DEFINE_CLEANUP(struct gpu_feeds *, gpu_feeds_free)

/* A struct gpu_event with its words; what is none is counted. */
void gpu_feeds_take(struct gpu_feeds *feeds, const void *bytes, size_t len);
/* The feed of a program, made when there is none; NULL: no room. `mono_ns` is a time at which the
 * process ran it. */
struct gpu_feed *gpu_feeds_get(struct gpu_feeds *feeds, uint32_t pid, uint32_t image,
                               uint64_t mono_ns);
/* Probes were attached at that time: of a program that was there before not all may be known. */
void gpu_feeds_attached(struct gpu_feeds *feeds, uint64_t mono_ns);
/* Events of the accounts of this place were lost until that time (bpf/user.h): references may have
 * been among them. A process is of the user who ran it when it was first heard of; one of which
 * that is not known may be of any. */
void gpu_feeds_lost(struct gpu_feeds *feeds, uint32_t place, uint64_t mono_ns);
/* Sees who has ended, by the process table; after all events until now were taken. */
void gpu_feeds_settle(struct gpu_feeds *feeds);

/* Waits a moment for names that are being read from processes. */
void gpu_feeds_await_names(struct gpu_feeds *feeds);

/* KIND_gpu_memory, KIND_gpu_tensor: what was allocated since the slice before, and how often; what
 * is held by those who live. The builder has their types. 0 or -ENOMEM. */
int gpu_feeds_allocated(struct gpu_feeds *feeds, enum profile_kind kind, struct builder *into,
                        uint64_t *ret_count);
int gpu_feeds_held(struct gpu_feeds *feeds, enum profile_kind kind, struct builder *into);
struct gpu_kernels *gpu_feeds_kernels(struct gpu_feeds *feeds);
/* After the slices of a half of this length. */
void gpu_feeds_drained(struct gpu_feeds *feeds, uint64_t duration_ns);

/* As gpu_each(). */
int gpu_feeds_each(struct gpu_feeds *feeds, gpu_figures_fn *fn, void *ctx);
/* Adds what is known here. */
void gpu_feeds_get_stats(const struct gpu_feeds *feeds, struct gpu_stats *stats);
