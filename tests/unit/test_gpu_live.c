/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The GPU memory that a process holds: exact in any order of events, and bounded.
 */
#include "gpu/gpu_live.h"

#include "base/clock.h"
#include "tests/unit/suites.h"

static struct gpu_live *live;
static struct gpu_allocation before;

static void set_up(void)
{
	live = gpu_live_new();
}

static void tear_down(void)
{
	gpu_live_destroy(live);
}

static enum gpu_live_result add_in(uint64_t context, uint64_t address, uint64_t size,
                                   uint64_t time_ns)
{
	const struct gpu_allocation allocation = {
		.address = address, .size = size, .time_ns = time_ns};

	return gpu_live_add(live, &allocation, context, &before);
}

static enum gpu_live_result add(uint64_t address, uint64_t size, uint64_t time_ns)
{
	return add_in(0, address, size, time_ns);
}

/* The size of the allocation that is freed; 0: none. */
static uint64_t freed(uint64_t address, uint64_t time_ns)
{
	struct gpu_allocation gone;

	return gpu_live_remove(live, address, time_ns, &gone) ? gone.size : 0;
}

START_TEST(in_order)
{
	ck_assert_int_eq(add(16, 100, 1), GPU_LIVE_KEPT);
	ck_assert_int_eq(add(32, 200, 2), GPU_LIVE_KEPT);
	ck_assert_uint_eq(freed(16, 3), 100);
	ck_assert_uint_eq(freed(16, 4), 0);
	ck_assert_int_eq(add(16, 300, 5), GPU_LIVE_KEPT);
	ck_assert_uint_eq(before.address, 0);
	ck_assert_uint_eq(freed(32, 6), 200);
	ck_assert_uint_eq(freed(16, 7), 300);
	ck_assert_uint_eq(gpu_live_count(live), 0);
}
END_TEST

START_TEST(free_before_its_allocation)
{
	ck_assert_uint_eq(freed(16, 20), 0);
	ck_assert_int_eq(add(16, 100, 10), GPU_LIVE_OVER);
	/* The free has been used up. */
	ck_assert_int_eq(add(16, 100, 11), GPU_LIVE_KEPT);
	ck_assert_uint_eq(gpu_live_unmatched(live, 10 * NSEC_PER_SEC), 0);
}
END_TEST

START_TEST(free_after_the_next_allocation)
{
	struct gpu_allocation gone;

	add(16, 100, 10);
	ck_assert_int_eq(add(16, 200, 30), GPU_LIVE_KEPT);
	ck_assert_uint_eq(before.size, 100);
	ck_assert(!gpu_live_remove(live, 16, 20, &gone));
	ck_assert_uint_eq(gone.address, 16);
	ck_assert_uint_eq(freed(16, 40), 200);
	/* An allocation that is older than the live one at its address is over. */
	add(16, 300, 60);
	ck_assert_int_eq(add(16, 400, 50), GPU_LIVE_OVER);
	ck_assert_uint_eq(gpu_live_count(live), 1);
}
END_TEST

START_TEST(unknown_frees)
{
	freed(16, 10);
	freed(32, 20);
	ck_assert_uint_eq(gpu_live_unmatched(live, 100), 0);
	ck_assert_uint_eq(gpu_live_unmatched(live, 2 * NSEC_PER_SEC), 2);
	ck_assert_int_eq(add(16, 100, 5), GPU_LIVE_KEPT);
}
END_TEST

/* Compared with a slow but simple array. */
START_TEST(many)
{
	enum { ADDRESSES = 5000, STEPS = 200000 };
	static uint64_t sizes[ADDRESSES];
	uint64_t random = 88172645463325252ULL;
	size_t count = 0;

	for (uint64_t step = 1; step <= STEPS; step++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		size_t at = random % ADDRESSES;
		if (sizes[at]) {
			ck_assert_uint_eq(freed((at + 1) * 512, step), sizes[at]);
			sizes[at] = 0;
			count--;
		} else {
			sizes[at] = step;
			ck_assert_int_eq(add((at + 1) * 512, step, step), GPU_LIVE_KEPT);
			count++;
		}
		ck_assert_uint_eq(gpu_live_count(live), count);
	}
}
END_TEST

START_TEST(full)
{
	for (uint64_t i = 1; i <= GPU_LIVE_MAX; i++)
		ck_assert_int_eq(add(i * 256, 1, i), GPU_LIVE_KEPT);
	ck_assert_int_eq(add(1, 1, GPU_LIVE_MAX), GPU_LIVE_FULL);
	ck_assert_uint_eq(gpu_live_count(live), GPU_LIVE_MAX);
	ck_assert_uint_eq(freed(256, GPU_LIVE_MAX), 1);
	ck_assert_int_eq(add(1, 1, GPU_LIVE_MAX), GPU_LIVE_KEPT);
}
END_TEST

/* Removes the allocations made in the context until then; returns their bytes. */
static uint64_t ended(uint64_t context, uint64_t time_ns)
{
	struct gpu_allocation gone;
	uint64_t bytes = 0;

	while (gpu_live_remove_of(live, context, time_ns, &gone))
		bytes += gone.size;
	return bytes;
}

START_TEST(of_a_context)
{
	add_in(7, 16, 100, 1);
	add_in(9, 32, 20, 2);
	add_in(7, 48, 300, 3);
	add_in(7, 64, 4000, 4);
	add_in(7, 80, 50000, 9);
	add(96, 600000, 5);
	ck_assert_uint_eq(freed(48, 5), 300);
	/* The address is allocated again, in another context. */
	ck_assert_int_eq(add_in(9, 64, 7, 6), GPU_LIVE_KEPT);
	ck_assert_uint_eq(before.size, 4000);
	ck_assert_uint_eq(ended(7, 8), 100);
	ck_assert_uint_eq(ended(0, 100), 0);
	ck_assert_uint_eq(ended(8, 100), 0);
	ck_assert_uint_eq(ended(9, 100), 27);
	ck_assert_uint_eq(ended(7, 100), 50000);
	ck_assert_uint_eq(gpu_live_count(live), 1);
	/* The same context number again. The newer allocation is reported first. */
	add_in(7, 32, 20, 103);
	add_in(7, 16, 1, 101);
	ck_assert_uint_eq(ended(7, 102), 1);
	ck_assert_uint_eq(ended(7, 103), 20);
}
END_TEST

/* Compared with an array again: each context ends with the allocations that are left in it. */
START_TEST(many_contexts)
{
	enum { ADDRESSES = 5000, STEPS = 100000, CONTEXTS = 10 };
	static uint64_t sizes[ADDRESSES], contexts[ADDRESSES];
	uint64_t random = 88172645463325252ULL;

	for (uint64_t step = 1; step <= STEPS; step++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		size_t at = random % ADDRESSES;
		if (sizes[at]) {
			ck_assert_uint_eq(freed((at + 1) * 512, step), sizes[at]);
			sizes[at] = 0;
		} else {
			sizes[at] = step;
			contexts[at] = 1 + (random >> 32) % CONTEXTS;
			add_in(contexts[at], (at + 1) * 512, step, step);
		}
	}
	for (uint64_t context = 1; context <= CONTEXTS; context++) {
		uint64_t held = 0;

		for (size_t at = 0; at < ADDRESSES; at++)
			held += contexts[at] == context ? sizes[at] : 0;
		ck_assert_uint_gt(held, 0);
		ck_assert_uint_eq(ended(context, STEPS), held);
	}
	ck_assert_uint_eq(gpu_live_count(live), 0);
}
END_TEST

START_TEST(too_many_contexts)
{
	for (uint64_t i = 1; i <= GPU_LIVE_CONTEXTS; i++)
		ck_assert_int_eq(add_in(i, i * 256, 1, i), GPU_LIVE_KEPT);
	ck_assert_int_eq(add_in(1000, 1, 1, 100), GPU_LIVE_ALONE);
	ck_assert_uint_eq(ended(1000, 200), 0);
	ck_assert_uint_eq(ended(1, 200), 1);
	ck_assert_int_eq(add_in(1000, 2, 10, 100), GPU_LIVE_KEPT);
	ck_assert_uint_eq(ended(1000, 200), 10);
	ck_assert_uint_eq(freed(1, 200), 1);
}
END_TEST

Suite *gpu_live_suite(void)
{
	Suite *suite = suite_create("gpu_live");
	TCase *tcase = tcase_create("gpu_live");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, in_order);
	tcase_add_test(tcase, free_before_its_allocation);
	tcase_add_test(tcase, free_after_the_next_allocation);
	tcase_add_test(tcase, unknown_frees);
	tcase_add_test(tcase, many);
	tcase_add_test(tcase, full);
	tcase_add_test(tcase, of_a_context);
	tcase_add_test(tcase, many_contexts);
	tcase_add_test(tcase, too_many_contexts);
	suite_add_tcase(suite, tcase);
	return suite;
}
