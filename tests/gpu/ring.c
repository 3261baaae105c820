/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The daemon's side of the ring buffer: read in pieces, with no event lost between them.
 */
#include "tests/gpu/cases.h"
#include "tests/gpu/driver.h"
#include "tests/gpu/watched.h"

#include "gpu/gpu_events.h"
#include "ingest/event_ring.h"

/* As root, who may have the whole ring. */
enum { ALLOCATIONS = 5000, LARGEST_EVENT = 8 << 10, PIECE = GPU_EVENT_BYTES / 16 };

static void allocate(uint64_t *ret_lost)
{
	struct gpu_counts before, after;
	uint64_t block;

	gpu_kernel_counts(&stage.kernel, &before);
	for (int i = 0; i < ALLOCATIONS; i++)
		drv_alloc(&block, 1 << 20);
	gpu_kernel_counts(&stage.kernel, &after);
	*ret_lost = after.events_lost + after.events_over_share - before.events_lost -
	            before.events_over_share;
}

static void take_event(void *ctx, const void *bytes, size_t len)
{
	gpu_events_take(ctx, bytes, len);
}

static uint64_t allocations_of(struct gpu_feeds *feeds)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	uint64_t count;

	ck_assert_int_eq(gpu_feeds_allocated(feeds, KIND_gpu_memory, builder, &count), 0);
	return count;
}

START_TEST(in_pieces)
{
	struct drain_tables tables = {.store = store_new(16)};
	struct gpu_feeds *feeds;
	struct gpu_events *taken;
	struct event_ring ring;
	uint64_t lost;
	int pieces = 1;

	tables.procs = procs_new(tables.store);
	feeds = gpu_feeds_new(&(struct gpu_feeds_config){
		.tables = tables, .hash_key = gpu_kernel_hash_key(&stage.kernel)});
	taken = gpu_events_new(&(struct gpu_events_config){.feeds = feeds, .tables = tables});
	ring = (struct event_ring){.take = take_event, .ctx = taken};
	ck_assert(event_ring_open(&ring, gpu_kernel_events(&stage.kernel)));
	allocate(&lost);
	ck_assert_uint_eq(lost, 0);
	for (; event_ring_read(&ring, PIECE); pieces++)
		ck_assert_uint_lt(ring.bytes_read, PIECE + LARGEST_EVENT);
	ck_assert_int_gt(pieces, ALLOCATIONS * sizeof(struct gpu_event) / PIECE);
	ck_assert_uint_eq(allocations_of(feeds), ALLOCATIONS);
	/* All at once, as before a drain. */
	allocate(&lost);
	ck_assert_uint_eq(lost, 0);
	event_ring_read(&ring, GPU_EVENT_BYTES);
	ck_assert_uint_eq(allocations_of(feeds), ALLOCATIONS);
	event_ring_release(&ring);
	gpu_events_free(taken);
	gpu_feeds_free(feeds);
	procs_free(tables.procs);
	store_free(tables.store);
}
END_TEST

TCase *ring_case(void)
{
	TCase *tcase = tcase_create("ring");

	tcase_add_test(tcase, in_pieces);
	return tcase;
}
