/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct sideband - the kernel's own account of what processes do: PERF_RECORD_FORK, COMM and EXIT
 * from a dummy event on every CPU, and MMAP2 from a second one that has a ring of its own. Unlike
 * hooks on system calls this costs nothing while nothing happens. It misses no mapping, as reading
 * /proc now and then would. sideband/sideband_clock.h decides when to read the rings; here only a
 * ring that fills up is read at once. Loop thread only.
 *
 * Each CPU's ring is in order of time, but the rings are not in order among each other. They are
 * applied to the process table as one (sideband/perf_ring.h). Formats: perf_event_open(2).
 */
#pragma once

#include "base/cleanup.h"
#include "proc/proc.h"

#include <uv.h>

struct sideband;

typedef bool sideband_told_fn(uint64_t told_mono_ns, void *ctx);

/* told() is called after each read, with the time up to which all records have been applied. It
 * returns true if it has not finished with them. */
int sideband_new(uv_loop_t *loop, struct procs *procs, sideband_told_fn *told, void *ctx,
                 struct sideband **ret_sideband);
/* Closes the handles; sideband_free() after the loop has ended. */
void sideband_stop(struct sideband *sideband);
void sideband_free(struct sideband *sideband);

/* Opens the rings of CPUs that came online, and closes those of CPUs that went offline. */
int sideband_update_cpus(struct sideband *sideband, const bool *online);
/* Applies everything that happened up to now to the process table. Returns whether anything
 * happened, or told() returned true. */
bool sideband_read(struct sideband *sideband);
/* The same, but for no longer than a moment. The rest follows at once, after whatever else the loop
 * has to do. */
bool sideband_read_some(struct sideband *sideband);
/* Whether there is anything to read; makes no system call. */
bool sideband_is_waiting(const struct sideband *sideband);

uint64_t sideband_records(const struct sideband *sideband);
uint64_t sideband_lost(const struct sideband *sideband);
/* Memory of the rings in bytes. */
uint64_t sideband_bytes(const struct sideband *sideband);
