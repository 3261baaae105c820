/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct perf_ring - the records in the ring of a perf event, where they are: nothing is copied but
 * a record that wraps around the end, and what has been told makes room again. Rings that are each
 * in order of time are told as one. Format: perf_event_open(2). One thread at a time.
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
	const char *record; /* the next one, */
	size_t len;
	uint64_t time;      /* and when it was written */
	struct buf wrapped; /* it, when it wraps */
	uint64_t broken;    /* reads whose rest was left out */
};

/* `memory` is a page of `page_bytes` and a power of two of them; it outlives the ring. */
void perf_ring_init(struct perf_ring *ring, void *memory, size_t page_bytes, size_t data_bytes);
void perf_ring_release(struct perf_ring *ring);
bool perf_ring_is_waiting(const struct perf_ring *ring); /* there is something to be told */

/* Tells in order of time what is in the rings and was written up to `until`, `most` records of it;
 * what is newer stays there. The array is changed. How many records that were. */
typedef void perf_record_fn(const void *record, size_t len, void *ctx);
size_t perf_rings_tell(struct perf_ring **rings, size_t count, uint64_t until, size_t most,
                       perf_record_fn *fn, void *ctx);
