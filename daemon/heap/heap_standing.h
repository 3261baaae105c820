/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct heap_standing - processes that sample their own allocations. Every file with probes for
 * that is listened to, in all processes, from the moment when a first process maps it. There is no
 * cost to decide about, because only sampled allocations are reported. Files that report GPU
 * kernels are listened to as well; their events go another way (gpu/gpu_kernels.h). Loop thread
 * only.
 */
#pragma once

#include "base/lane.h"
#include "heap/heap_watch.h"
#include "heap/heaps_stats.h"
#include "ingest/drain.h"
#include "kernel/gpu_kernel.h"
#include "kernel/heap_kernel.h"
#include "reader/reader.h"

#include <uv.h>

struct heap_standing;

struct heap_standing_config {
	uv_loop_t *loop;
	struct lane *lane;
	struct reader *reader; /* the lane's */
	const struct heap_kernel *kernel;
	const struct gpu_kernel *gpus;
	struct drain_tables tables;
	struct heaps_stats *stats;
	void (*attached)(void *ctx); /* called when events will come from now on */
	/* Called when some of these are events of bpf/gpu.h: a program has libprofd-cuda.so. */
	void (*hears_gpus)(void *ctx);
	void *ctx;
};

/* Call heap_standing_free() even after a failure. */
int heap_standing_new(const struct heap_standing_config *config,
                      struct heap_standing **ret_standing);
/* Starts to inspect processes, present and future ones. */
void heap_standing_start(struct heap_standing *standing);
void heap_standing_stop(struct heap_standing *standing);
void heap_standing_free(struct heap_standing *standing); /* once the lane is idle; takes NULL */

void heap_standing_take(struct heap_standing *standing, const struct heap_event *event,
                        const uint64_t *words);
/* Forgets processes that have ended. */
void heap_standing_expire(struct heap_standing *standing);
/* See heaps_standing(). */
int heap_standing_profile(struct heap_standing *standing, uint32_t pid, enum heap_mode mode,
                          struct profile **ret_profile, struct heap_figures *ret_figures);
/* See heaps_inuse(). */
bool heap_standing_inuse(const struct heap_standing *standing, uint32_t pid, uint64_t *ret_bytes);
/* Whether any file is listened to. */
bool heap_standing_listens(const struct heap_standing *standing);
uint32_t heap_standing_count(const struct heap_standing *standing);
/* The memory that is used for what they reported. */
uint64_t heap_standing_bytes(const struct heap_standing *standing);
/* How often a file was not searched for probes yet, for lack of room. */
uint64_t heap_standing_put_off(const struct heap_standing *standing);
/* How often a file with probes was not listened to: for want of room, and because its user is not
 * trusted (base/accounts.h). */
void heap_standing_files(const struct heap_standing *standing, uint64_t *ret_refused,
                         uint64_t *ret_untrusted);
