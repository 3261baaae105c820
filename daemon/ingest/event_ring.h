/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct event_ring - reads a ring buffer of the kernel half. Any program may fill it as fast as it
 * is read. So it is read in pieces, and all reading together has its pace; what is not read stays
 * in the ring, and what finds no room there is counted as lost by the kernel half. Initialize with
 * `take` and `ctx`. Loop thread only.
 */
#pragma once

#include "ingest/event_pace.h"

#include <stdbool.h>
#include <stddef.h>

struct ring_buffer;

struct event_ring {
	void (*take)(void *ctx, const void *bytes, size_t len);
	void *ctx;
	struct ring_buffer *buffer;    /* NULL until it is open */
	size_t bytes_read, most_bytes; /* in the current read */
	struct event_pace pace;
};

/* Opens the ring with this map, which outlives it. Returns whether it is open. */
bool event_ring_open(struct event_ring *ring, int map);
int event_ring_fd(const struct event_ring *ring); /* readable while the ring is being filled */
/* Takes events until `most_bytes` are read; with the size of the ring, at least all that it held.
 * Returns whether there may be more. */
bool event_ring_read(struct event_ring *ring, size_t most_bytes);
/* Time until the pace allows another read; 0: now. */
uint64_t event_ring_wait_ms(const struct event_ring *ring);
void event_ring_release(struct event_ring *ring);
