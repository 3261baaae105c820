/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Physical GPU memory, which goes with its last handle and last mapping.
 */
#include "tests/unit/gpu_feeds_fixture.h"

enum { HANDLE = 0xd000, PLACE = 0x100000, MIB = 1 << 20 };

static void create(uint64_t handle, uint64_t size)
{
	allocate(0, GPU_MEMORY_PHYSICAL, handle, size);
}

static void release(uint64_t handle)
{
	event.memory = GPU_MEMORY_PHYSICAL;
	tell(GPU_EVENT_FREE, handle, 0, 0);
}

static void map(uint64_t address, uint64_t size, uint64_t handle)
{
	event.memory = GPU_MEMORY_PHYSICAL;
	event.handle = handle;
	tell(GPU_EVENT_MAPPED, address, size, 0);
	event.handle = 0;
}

static void unmap(uint64_t address, uint64_t size)
{
	event.memory = GPU_MEMORY_PHYSICAL;
	tell(GPU_EVENT_UNMAPPED, address, size, 0);
}

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
	tell(GPU_EVENT_RETAINED, HANDLE, 0, 0);
	tell(GPU_EVENT_RETAINED, HANDLE + 1, 0, 0);
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
	ck_assert_uint_eq(held(), 1);
	ck_assert_uint_eq(stats().maps_full, 0);
}
END_TEST

Suite *gpu_mapped_suite(void)
{
	Suite *suite = suite_create("gpu_mapped");
	TCase *tcase = tcase_create("gpu_mapped");

	tcase_add_checked_fixture(tcase, gpu_feeds_set_up, gpu_feeds_tear_down);
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
