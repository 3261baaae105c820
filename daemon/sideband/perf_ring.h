/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct perf_ring - reads the records in the ring of a perf event in place. Only a record that
 * wraps around the end is copied. Records that were delivered make room again. Several rings, each
 * of which is in order of time, are delivered as one. Format: perf_event_open(2). One thread at a
 * time.
 */
#pragma once

#include "base/buf.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_ring {
	struct perf_event_mmap_page *control;
	const char *data;
	size_t bytes;
	uint64_t at, head;  /* of the read under way: the next record, and the end */
	const char *record; /* the next record */
	size_t len;
	uint64_t time;      /* when it was written */
	struct buf wrapped; /* a copy of it, if it wraps */
	uint64_t broken;    /* reads that ended early at a bad record */
};

/* `memory` has one page of `page_bytes` followed by `data_bytes`, a power of two of such pages. It
 * outlives the ring. */
void perf_ring_init(struct perf_ring *ring, void *memory, size_t page_bytes, size_t data_bytes);
void perf_ring_release(struct perf_ring *ring);
bool perf_ring_is_waiting(const struct perf_ring *ring); /* whether it has records to deliver */

/* Delivers the records that were written up to `until`, in order of time, at most `most` of
 * them. Newer records remain in the rings. Reorders the array. Returns how many records were
 * delivered. */
typedef void perf_record_fn(const void *record, size_t len, void *ctx);
size_t perf_rings_tell(struct perf_ring **rings, size_t count, uint64_t until, size_t most,
                       perf_record_fn *fn, void *ctx);
