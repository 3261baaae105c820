/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The rings that have records are in an array, ordered by the time of their next record. Usually
 * one ring has many records in a row.
 */
#include "sideband/perf_ring.h"

#include "sideband/records.h"

#include <string.h>

/* Room is given back in pieces of this part of a ring, because the kernel checks what was given
 * back with every record that it writes. */
enum { GIVE_BACK = 16 };

void perf_ring_init(struct perf_ring *ring, void *memory, size_t page_bytes, size_t data_bytes)
{
	*ring = (struct perf_ring){
		.control = memory,
		.data = (const char *)memory + page_bytes,
		.bytes = data_bytes,
		.wrapped = BUF_INIT,
	};
}

void perf_ring_release(struct perf_ring *ring)
{
	buf_release(&ring->wrapped);
}

static uint64_t head_of(const struct perf_ring *ring)
{
	return __atomic_load_n(&ring->control->data_head, __ATOMIC_ACQUIRE);
}

static void give_back(struct perf_ring *ring)
{
	__atomic_store_n(&ring->control->data_tail, ring->at, __ATOMIC_RELEASE);
}

bool perf_ring_is_waiting(const struct perf_ring *ring)
{
	return head_of(ring) != ring->control->data_tail;
}

/* The bytes of a record in one piece; NULL when out of memory. */
static const char *in_one_piece(struct perf_ring *ring, size_t len)
{
	size_t at = ring->at % ring->bytes, first = ring->bytes - at;
	char *whole;

	if (len <= first)
		return ring->data + at;
	buf_clear(&ring->wrapped);
	whole = buf_reserve(&ring->wrapped, len);
	if (!whole)
		return NULL;
	memcpy(whole, ring->data + at, first);
	memcpy(whole + first, ring->data, len - first);
	return whole;
}

/* Finds the next record; false if there is none. Record sizes are multiples of eight bytes, so a
 * header does not wrap. */
static bool look(struct perf_ring *ring)
{
	struct perf_event_header header;

	if (ring->at == ring->head)
		return false;
	memcpy(&header, ring->data + ring->at % ring->bytes, sizeof(header));
	ring->len = header.size;
	ring->record = header.size >= sizeof(header) && header.size % sizeof(header) == 0 &&
	                               header.size <= ring->head - ring->at
	                       ? in_one_piece(ring, header.size)
	                       : NULL;
	if (ring->record) {
		ring->time = record_time(ring->record, ring->len);
		return true;
	}
	ring->broken++;
	ring->at = ring->head;
	return false;
}

static bool go_on(struct perf_ring *ring)
{
	ring->at += ring->len;
	if (ring->at - ring->control->data_tail >= ring->bytes / GIVE_BACK)
		give_back(ring);
	return look(ring);
}

/* Moves the first ring to its place by time among the others, which are in order. */
static void sift(struct perf_ring **rings, size_t count)
{
	struct perf_ring *moved = rings[0];
	size_t at = 0;

	for (; at + 1 < count && rings[at + 1]->time < moved->time; at++)
		rings[at] = rings[at + 1];
	rings[at] = moved;
}

/* Moves the rings that have records to the beginning of the array, in order of time. Returns their
 * number. */
static size_t begin(struct perf_ring **rings, size_t count)
{
	size_t first = count;

	for (size_t i = count; i-- > 0;) {
		struct perf_ring *ring = rings[i];

		ring->at = ring->control->data_tail;
		ring->head = head_of(ring);
		if (!look(ring)) {
			give_back(ring);
			continue;
		}
		rings[i] = rings[--first];
		rings[first] = ring;
		sift(rings + first, count - first);
	}
	memmove(rings, rings + first, (count - first) * sizeof(struct perf_ring *));
	return count - first;
}

size_t perf_rings_tell(struct perf_ring **rings, size_t count, uint64_t until, size_t most,
                       perf_record_fn *fn, void *ctx)
{
	size_t told = 0;

	count = begin(rings, count);
	while (count && rings[0]->time <= until && told < most) {
		fn(rings[0]->record, rings[0]->len, ctx);
		told++;
		if (go_on(rings[0])) {
			sift(rings, count);
			continue;
		}
		give_back(rings[0]);
		rings++;
		count--;
	}
	for (size_t i = 0; i < count; i++)
		give_back(rings[i]);
	return told;
}
