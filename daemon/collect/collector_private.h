/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The members of a collector, for the files that implement it. Loop thread only.
 */
#pragma once

#include "collect/collector.h"
#include "collect/crews.h"
#include "collect/late_load.h"
#include "collect/own_cost.h"
#include "gpu/gpu.h"
#include "heap/heaps.h"
#include "heap/heaps_life.h"
#include "ingest/drain.h"
#include "ingest/source.h"
#include "jit/jit.h"
#include "kernel/bpf.h"
#include "kernel/hotplug.h"
#include "kernel/run_times.h"
#include "kernel/threads_ran.h"
#include "kernel/unwind_maps.h"
#include "runtimes/runtimes.h"
#include "sideband/sideband.h"
#include "sideband/sideband_clock.h"

struct collector {
	uv_loop_t *loop;
	struct procs *procs;
	struct store *store;
	struct crews crews;
	struct history *history;
	struct bpf bpf;
	struct unwind_maps unwind_maps;
	struct unwinder *unwinder;
	struct runtimes runtimes;
	struct jit *jit;
	struct sideband *sideband;
	struct sideband_clock sideband_clock;
	struct hotplug hotplug;
	struct heaps *heaps;
	struct gpu *gpu;
	struct memory_watch *memory;
	struct source_state states[KIND_COUNT];
	struct late_load late_load;
	struct heartbeat heartbeat;
	struct run_times *run_times;
	struct threads_ran ran;
	void (*drained)(void *ctx);
	void *ctx;
	bool ready;
	uint64_t told_mono_ns; /* the process table is complete up to this moment */
	struct collector_stats stats;
	struct drain_losses losses;
	struct own_rate own_rate;
	struct own_group own_group;
};

/* What a drain works with. */
struct drain_tables collector_tables(struct collector *collector);
/* Reads what stacks refer to: mappings, interpreted code, files. `ctx` is the collector, also
 * below. */
void collector_read_tables(void *ctx);
/* Called before a flip. */
void collector_eve_of_flip(void *ctx);
/* Called when a half has ended. */
void collector_drain(void *ctx);
