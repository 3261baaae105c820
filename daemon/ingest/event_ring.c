/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The time that reading takes is CPU time: while the daemon is stopped, or others have the CPU, it
 * does not read.
 */
#include "ingest/event_ring.h"

#include <bpf/libbpf.h>
#include <errno.h>

static int take_event(void *ctx, void *bytes, size_t len)
{
	struct event_ring *ring = ctx;

	ring->bytes_read += len;
	ring->take(ring->ctx, bytes, len);
	return ring->bytes_read < ring->most_bytes ? 0 : -EAGAIN;
}

bool event_ring_open(struct event_ring *ring, int map)
{
	ring->buffer = ring_buffer__new(map, take_event, ring, NULL);
	return ring->buffer != NULL;
}

int event_ring_fd(const struct event_ring *ring)
{
	return ring_buffer__epoll_fd(ring->buffer);
}

bool event_ring_read(struct event_ring *ring, size_t most_bytes)
{
	uint64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	ring->bytes_read = 0;
	ring->most_bytes = most_bytes;
	ring_buffer__consume(ring->buffer);
	event_pace_spend(&ring->pace, clock_mono_ns(),
	                 clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns);
	return ring->bytes_read >= most_bytes;
}

uint64_t event_ring_wait_ms(const struct event_ring *ring)
{
	return event_pace_wait_ms(&ring->pace, clock_mono_ns());
}

void event_ring_release(struct event_ring *ring)
{
	ring_buffer__free(ring->buffer);
	ring->buffer = NULL;
}
