/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct sideband - the kernel's own account of what processes do: PERF_RECORD_FORK, COMM and EXIT
 * from a dummy event on every CPU, and MMAP2 from another, whose ring is its own. Unlike hooks on
 * system calls it costs nothing where nothing happens, and no mapping is missed between two looks
 * at /proc. When to read it is collect/sideband_clock.h's; here only a ring that fills up is read
 * at once. Loop thread only.
 *
 * Each CPU's ring is in order of time, the rings among each other are not: they are told to the
 * process table as one (collect/perf_ring.h). Formats: perf_event_open(2).
 */
#pragma once

#include "base/cleanup.h"
#include "proc/proc.h"

#include <uv.h>

struct sideband;

typedef bool sideband_told_fn(uint64_t told_mono_ns, void *ctx);

/* Each time it was read told() is called, which says up to when everything has been told. */
int sideband_new(uv_loop_t *loop, struct procs *procs, sideband_told_fn *told, void *ctx,
                 struct sideband **ret_sideband);
/* Closes the handles; sideband_free() after the loop has run out. */
void sideband_stop(struct sideband *sideband);
void sideband_free(struct sideband *sideband);

/* Opens rings of CPUs that came, closes those of CPUs that went. */
int sideband_update_cpus(struct sideband *sideband, const bool *online);
/* Tells the process table everything that happened up to now; whether anything did, or told() said
 * that it is not done with what did. */
bool sideband_read(struct sideband *sideband);
/* The same, but no more of it than takes a moment; the rest follows at once, after whatever else
 * the loop has to do. */
bool sideband_read_some(struct sideband *sideband);
/* Whether there is anything to be read; asks nobody. */
bool sideband_is_waiting(const struct sideband *sideband);

uint64_t sideband_records(const struct sideband *sideband);
uint64_t sideband_lost(const struct sideband *sideband);
/* Memory of the rings. */
uint64_t sideband_bytes(const struct sideband *sideband);
