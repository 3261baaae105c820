/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * GPU memory that is released without a free of its own: with its context, or with its last handle
 * and last mapping.
 */
#include "base/accounts.h"
#include "base/clock.h"
#include "gpu/gpu_events.h"
#include "ingest/source.h"
#include "tests/unit/suites.h"

#include <stdbool.h>
#include <unistd.h>

enum {
	PID = 4000001, /* above the kernel's default limit */
	STARTED_NS = 100,
	A = 0xa000, /* contexts */
	B = 0xb000,
	PRIMARY = 0xc000, /* of device 0 */
	HANDLE = 0xd000,
	PLACE = 0x100000,
	MIB = 1 << 20,
	ROOT = 0, /* root's place among the accounts that lose events */
};

static const struct hash_key hash_key = {0, 0x9e3779b97f4a7c15};
static struct drain_tables tables;
static struct gpu_feeds *feeds;
static struct gpu_events *events;
static struct gpu_event event;

static void set_up(void)
{
	tables.store = store_new(16);
	tables.procs = procs_new(tables.store);
	procs_exec(tables.procs, PID, "train", STARTED_NS);
	feeds = gpu_feeds_new(&(struct gpu_feeds_config){.tables = tables, .hash_key = hash_key});
	events = gpu_events_new(&(struct gpu_events_config){.feeds = feeds, .tables = tables});
	event = (struct gpu_event){.pid = PID, .tid = PID, .time_ns = 1000};
}

static void tear_down(void)
{
	gpu_events_free(events);
	gpu_feeds_free(feeds);
	procs_free(tables.procs);
	store_free(tables.store);
}

/* Sends an event, one nanosecond after the last one. */
static void tell(uint16_t kind, uint64_t address, uint64_t size)
{
	event.kind = kind;
	event.address = address;
	event.size = size;
	event.time_ns++;
	gpu_events_take(events, &event, sizeof(event));
}

static void allocate(uint64_t context, enum gpu_memory memory, uint64_t address, uint64_t size)
{
	event.context = context;
	event.memory = memory;
	tell(GPU_EVENT_ALLOC, address, size);
	event.context = 0;
}

static void end(enum gpu_end what, uint64_t context, uint8_t device)
{
	event.memory = what;
	event.device = device;
	tell(GPU_EVENT_ENDED, context, 0);
	event.device = 0;
}

static void retain(uint64_t context, uint8_t device)
{
	event.device = device;
	tell(GPU_EVENT_CONTEXT, context, 1);
	event.device = 0;
}

static void create(uint64_t handle, uint64_t size)
{
	allocate(0, GPU_MEMORY_PHYSICAL, handle, size);
}

static void release(uint64_t handle)
{
	event.memory = GPU_MEMORY_PHYSICAL;
	tell(GPU_EVENT_FREE, handle, 0);
}

static void map(uint64_t address, uint64_t size, uint64_t handle)
{
	event.memory = GPU_MEMORY_PHYSICAL;
	event.handle = handle;
	tell(GPU_EVENT_MAPPED, address, size);
	event.handle = 0;
}

static void unmap(uint64_t address, uint64_t size)
{
	event.memory = GPU_MEMORY_PHYSICAL;
	tell(GPU_EVENT_UNMAPPED, address, size);
}

/* The bytes held. Both ways to ask must give the same number. */
static uint64_t held(void)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	const struct gpu_feed *feed = gpu_feeds_get(feeds, event.pid, 0, event.time_ns);
	const struct profile *profile;
	uint64_t bytes = 0;

	source_describe(sources[KIND_gpu_memory], 1, builder);
	ck_assert_int_eq(gpu_feeds_held(feeds, KIND_gpu_memory, builder), 0);
	profile = builder_view(builder);
	for (uint32_t i = 1; i < profile->sample_count; i++)
		bytes += profile->samples[i].values[3];
	ck_assert_uint_eq(gpu_feed_bytes(feed, GPU_LAYER_DRIVER), bytes);
	return bytes;
}

static uint64_t freed(void)
{
	const struct gpu_feed *feed = gpu_feeds_get(feeds, event.pid, 0, event.time_ns);
	uint64_t frees = 0;

	for (size_t i = 0; i < feed->totals.count; i++)
		frees += feed->totals.at[i].figures.frees;
	return frees;
}

static struct gpu_stats stats(void)
{
	struct gpu_stats stats = {0};

	gpu_feeds_get_stats(feeds, &stats);
	gpu_events_get_stats(events, &stats);
	return stats;
}

START_TEST(with_its_context)
{
	allocate(A, GPU_MEMORY_DEVICE, 0x100, 1);
	event.device = 1;
	allocate(B, GPU_MEMORY_DEVICE, 0x200, 20);
	event.device = GPU_DEVICE_HOST;
	allocate(A, GPU_MEMORY_PINNED, 0x300, 300);
	allocate(A, GPU_MEMORY_REGISTERED, 0x400, 4000);
	event.device = 0;
	allocate(A, GPU_MEMORY_MANAGED, 0x500, 50000);
	allocate(A, GPU_MEMORY_ARRAY, 0x600, 600000);
	/* The first two belong to no context, and the context of the last is not known. */
	allocate(A, GPU_MEMORY_POOL, 0x700, 7000000);
	allocate(A, GPU_MEMORY_PHYSICAL, 0x800, 80000000);
	allocate(0, GPU_MEMORY_DEVICE, 0x900, 900000000);
	end(GPU_END_CONTEXT, A, GPU_DEVICE_UNKNOWN);
	ck_assert_uint_eq(held(), 987000020);
	end(GPU_END_CONTEXT, 0, GPU_DEVICE_UNKNOWN);
	ck_assert_uint_eq(held(), 987000020);
	end(GPU_END_CONTEXT, B, GPU_DEVICE_UNKNOWN);
	ck_assert_uint_eq(held(), 987000000);
	/* The end of a context does not count as a free. */
	ck_assert_uint_eq(freed(), 0);
	/* An address and a context that are used again. */
	allocate(A, GPU_MEMORY_DEVICE, 0x100, 3);
	ck_assert_uint_eq(held(), 987000003);
	end(GPU_END_CONTEXT, A, GPU_DEVICE_UNKNOWN);
	ck_assert_uint_eq(held(), 987000000);
	ck_assert_uint_eq(stats().unmatched, 0);
}
END_TEST

/* An allocation that was made after the call began is kept, even if it is reported before the
 * call's end. */
START_TEST(while_it_ends)
{
	allocate(A, GPU_MEMORY_DEVICE, 0x100, 1);
	event.time_ns += 10;
	allocate(A, GPU_MEMORY_DEVICE, 0x200, 20);
	event.time_ns -= 5;
	end(GPU_END_CONTEXT, A, GPU_DEVICE_UNKNOWN);
	ck_assert_uint_eq(held(), 20);
}
END_TEST

START_TEST(of_tensors)
{
	event.layer = GPU_LAYER_TENSOR;
	allocate(A, GPU_MEMORY_TENSOR, 0x100, 512);
	event.layer = GPU_LAYER_DRIVER;
	end(GPU_END_CONTEXT, A, GPU_DEVICE_UNKNOWN);
	ck_assert_uint_eq(
		gpu_feed_bytes(gpu_feeds_get(feeds, PID, 0, event.time_ns), GPU_LAYER_TENSOR), 512);
}
END_TEST

START_TEST(primary_is_reset)
{
	retain(PRIMARY, 0);
	retain(B, 1);
	allocate(PRIMARY, GPU_MEMORY_DEVICE, 0x100, 1);
	allocate(B, GPU_MEMORY_DEVICE, 0x200, 20);
	end(GPU_END_PRIMARY, 0, 0);
	ck_assert_uint_eq(held(), 20);
	/* The context goes on under the same handle. */
	allocate(PRIMARY, GPU_MEMORY_DEVICE, 0x100, 300);
	ck_assert_uint_eq(held(), 320);
	end(GPU_END_PRIMARY, 0, 0);
	end(GPU_END_PRIMARY, 0, 2);
	end(GPU_END_PRIMARY, 0, GPU_DEVICE_UNKNOWN);
	ck_assert_uint_eq(held(), 20);
	ck_assert_uint_eq(stats().contexts_full, 1);
}
END_TEST

START_TEST(primary_is_released)
{
	retain(PRIMARY, 0);
	retain(PRIMARY, 0);
	allocate(PRIMARY, GPU_MEMORY_DEVICE, 0x100, 1);
	end(GPU_END_REFERENCE, 0, 0);
	ck_assert_uint_eq(held(), 1);
	/* A reset does not release a reference. */
	end(GPU_END_PRIMARY, 0, 0);
	ck_assert_uint_eq(held(), 0);
	allocate(PRIMARY, GPU_MEMORY_DEVICE, 0x100, 20);
	end(GPU_END_REFERENCE, 0, 1);
	ck_assert_uint_eq(held(), 20);
	end(GPU_END_REFERENCE, 0, 0);
	ck_assert_uint_eq(held(), 0);
	/* One release too many. */
	allocate(PRIMARY, GPU_MEMORY_DEVICE, 0x100, 300);
	end(GPU_END_REFERENCE, 0, 0);
	ck_assert_uint_eq(held(), 300);
	/* Then the context is retained for the first time again. */
	retain(PRIMARY, 0);
	end(GPU_END_REFERENCE, 0, 0);
	ck_assert_uint_eq(held(), 0);
}
END_TEST

/* A process that ran before the driver was probed may have references that were not seen. */
START_TEST(seen_late)
{
	gpu_feeds_attached(feeds, STARTED_NS);
	retain(PRIMARY, 0);
	allocate(PRIMARY, GPU_MEMORY_DEVICE, 0x100, 1);
	end(GPU_END_REFERENCE, 0, 0);
	ck_assert_uint_eq(held(), 1);
	end(GPU_END_PRIMARY, 0, 0);
	ck_assert_uint_eq(held(), 0);
}
END_TEST

/* While events were lost, references may have been made that were not seen. */
START_TEST(seen_in_part)
{
	retain(PRIMARY, 0);
	allocate(PRIMARY, GPU_MEMORY_DEVICE, 0x100, 1);
	gpu_feeds_lost(feeds, ROOT, event.time_ns);
	end(GPU_END_REFERENCE, 0, 0);
	ck_assert_uint_eq(held(), 1);
	end(GPU_END_PRIMARY, 0, 0);
	ck_assert_uint_eq(held(), 0);
}
END_TEST

/* The same holds for a program whose first event comes after the loss. */
START_TEST(not_seen_at_first)
{
	gpu_feeds_lost(feeds, ROOT, event.time_ns);
	retain(PRIMARY, 0);
	allocate(PRIMARY, GPU_MEMORY_DEVICE, 0x100, 1);
	end(GPU_END_REFERENCE, 0, 0);
	ck_assert_uint_eq(held(), 1);
}
END_TEST

/* Events of the process's own account are lost, or of another one; before the program's first
 * event, or after it. */
static const struct loss {
	bool own, first;
} losses[] = {{false, false}, {false, true}, {true, false}, {true, true}};

/* The process must exist, so that its user is known. */
START_TEST(seen_in_part_by_user)
{
	uint32_t place = account_place(&hash_key, account_of(getuid()));
	const struct loss *loss = &losses[_i];

	place = loss->own ? place : place + 1;
	event.pid = event.tid = (uint32_t)getpid();
	procs_exec(tables.procs, event.pid, "train", STARTED_NS);
	if (loss->first)
		gpu_feeds_lost(feeds, place, event.time_ns);
	retain(PRIMARY, 0);
	allocate(PRIMARY, GPU_MEMORY_DEVICE, 0x100, 1);
	if (!loss->first)
		gpu_feeds_lost(feeds, place, event.time_ns);
	end(GPU_END_REFERENCE, 0, 0);
	ck_assert_uint_eq(held(), loss->own);
}
END_TEST

START_TEST(released_after_it_is_unmapped)
{
	create(HANDLE, 2 * MIB);
	map(PLACE, 2 * MIB, HANDLE);
	unmap(PLACE, 2 * MIB);
	ck_assert_uint_eq(held(), 2 * MIB);
	release(HANDLE);
	ck_assert_uint_eq(held(), 0);
	ck_assert_uint_eq(freed(), 1);
}
END_TEST

START_TEST(released_while_it_is_mapped)
{
	create(HANDLE, 2 * MIB);
	map(PLACE, 2 * MIB, HANDLE);
	map(PLACE + 64 * MIB, 2 * MIB, HANDLE);
	release(HANDLE);
	ck_assert_uint_eq(held(), 2 * MIB);
	unmap(PLACE, 2 * MIB);
	ck_assert_uint_eq(held(), 2 * MIB);
	unmap(PLACE + 64 * MIB, 2 * MIB);
	ck_assert_uint_eq(held(), 0);
	ck_assert_uint_eq(freed(), 1);
	/* A handle that is used again stands for other memory. */
	create(HANDLE, 4 * MIB);
	unmap(PLACE, 2 * MIB);
	ck_assert_uint_eq(held(), 4 * MIB);
	release(HANDLE);
	ck_assert_uint_eq(held(), 0);
}
END_TEST

START_TEST(owned_twice)
{
	create(HANDLE, 2 * MIB);
	map(PLACE, 2 * MIB, HANDLE);
	tell(GPU_EVENT_RETAINED, HANDLE, 0);
	tell(GPU_EVENT_RETAINED, HANDLE + 1, 0);
	unmap(PLACE, 2 * MIB);
	release(HANDLE);
	ck_assert_uint_eq(held(), 2 * MIB);
	release(HANDLE);
	ck_assert_uint_eq(held(), 0);
	/* A handle whose creation was not seen. */
	release(HANDLE + 1);
	ck_assert_uint_eq(held(), 0);
}
END_TEST

/* One call unmaps several adjacent mappings. */
START_TEST(unmapped_at_once)
{
	for (uint64_t i = 0; i < 4; i++) {
		create(HANDLE + i, 2 * MIB);
		map(PLACE + i * 2 * MIB, 2 * MIB, HANDLE + i);
		release(HANDLE + i);
	}
	unmap(PLACE, 6 * MIB);
	ck_assert_uint_eq(held(), 2 * MIB);
	unmap(PLACE, 6 * MIB);
	unmap(PLACE + 6 * MIB, 2 * MIB);
	ck_assert_uint_eq(held(), 0);
	ck_assert_uint_eq(freed(), 4);
	ck_assert_uint_eq(stats().unmatched, 0);
}
END_TEST

/* An unmapping was lost, but its place is seen to be mapped again. */
START_TEST(mapped_again)
{
	create(HANDLE, 2 * MIB);
	map(PLACE, 2 * MIB, HANDLE);
	release(HANDLE);
	create(HANDLE + 1, 4 * MIB);
	map(PLACE, 4 * MIB, HANDLE + 1);
	ck_assert_uint_eq(held(), 4 * MIB);
}
END_TEST

/* A new mapping of the place is reported before the end of the old one. */
START_TEST(unmapped_late)
{
	create(HANDLE, 2 * MIB);
	create(HANDLE + 1, 4 * MIB);
	map(PLACE, 2 * MIB, HANDLE);
	event.time_ns += 10;
	map(PLACE, 4 * MIB, HANDLE + 1);
	event.time_ns -= 5;
	unmap(PLACE, 2 * MIB);
	event.time_ns += 10;
	release(HANDLE);
	release(HANDLE + 1);
	ck_assert_uint_eq(held(), 4 * MIB);
}
END_TEST

/* Several mappings end at once, and the place of the first has already been mapped again. */
START_TEST(unmapped_late_at_once)
{
	uint64_t before;

	for (uint64_t i = 0; i < 3; i++) {
		create(HANDLE + i, 2 * MIB);
		map(PLACE + i * 2 * MIB, 2 * MIB, HANDLE + i);
		release(HANDLE + i);
	}
	before = event.time_ns;
	create(HANDLE + 3, 2 * MIB);
	map(PLACE, 2 * MIB, HANDLE + 3);
	event.time_ns = before;
	unmap(PLACE, 6 * MIB);
	ck_assert_uint_eq(held(), 2 * MIB);
	ck_assert_uint_eq(freed(), 3);
}
END_TEST

START_TEST(too_much_mapped)
{
	create(HANDLE, 2 * MIB);
	for (uint64_t i = 0; i <= GPU_LIVE_MAX; i++)
		map(PLACE + i * 512, 512, HANDLE);
	ck_assert_uint_eq(stats().maps_full, 1);
	release(HANDLE);
	unmap(PLACE, GPU_LIVE_MAX * 512);
	ck_assert_uint_eq(held(), 0);
}
END_TEST

START_TEST(nonsense)
{
	map(PLACE, 0, HANDLE);
	map(0, 5, HANDLE);
	map(PLACE, 5, 0);
	unmap(PLACE, UINT64_MAX);
	unmap(0, 0);
	map(UINT64_MAX, UINT64_MAX, HANDLE);
	unmap(UINT64_MAX, UINT64_MAX);
	allocate(0, GPU_MEMORY_DEVICE, 0x100, 1);
	map(PLACE, 5, 0x100);
	unmap(PLACE, 5);
	end(77, 0x100, 0);
	ck_assert_uint_eq(held(), 1);
	ck_assert_uint_eq(stats().maps_full, 0);
}
END_TEST

Suite *gpu_ends_suite(void)
{
	Suite *suite = suite_create("gpu_ends");
	TCase *tcase = tcase_create("gpu_ends");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, with_its_context);
	tcase_add_test(tcase, while_it_ends);
	tcase_add_test(tcase, of_tensors);
	tcase_add_test(tcase, primary_is_reset);
	tcase_add_test(tcase, primary_is_released);
	tcase_add_test(tcase, seen_late);
	tcase_add_test(tcase, seen_in_part);
	tcase_add_test(tcase, not_seen_at_first);
	tcase_add_loop_test(tcase, seen_in_part_by_user, 0, sizeof(losses) / sizeof(losses[0]));
	tcase_add_test(tcase, released_after_it_is_unmapped);
	tcase_add_test(tcase, released_while_it_is_mapped);
	tcase_add_test(tcase, owned_twice);
	tcase_add_test(tcase, unmapped_at_once);
	tcase_add_test(tcase, mapped_again);
	tcase_add_test(tcase, unmapped_late);
	tcase_add_test(tcase, unmapped_late_at_once);
	tcase_add_test(tcase, too_much_mapped);
	tcase_add_test(tcase, nonsense);
	suite_add_tcase(suite, tcase);
	return suite;
}
