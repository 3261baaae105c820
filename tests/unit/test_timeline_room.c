/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What is dropped from full timelines when one user tries to take all room.
 */
#include "tests/unit/suites.h"

#include "memory/timeline.h"

#include <stdio.h>
#include <string.h>

enum { HIS = 1000, HERS = 2000 };

static const struct timeline_limits small = {
	.keep_ms = 3600 * 1000, .max_bytes = 256 << 10, .max_processes = 5000};

static void see(struct timeline *timeline, uint32_t user, uint32_t pid, uint64_t second,
                uint64_t mib)
{
	struct timeline_process seen = {
		.pid = pid, .start_ticks = pid, .user = user, .seen_ms = second * 1000};

	seen.figures.values[MEMORY_rss_anon] = mib << 20;
	seen.figures.values[MEMORY_heap_inuse] = MEMORY_UNKNOWN;
	timeline_process(timeline, &seen);
}

static struct timeline_stats stats_of(const struct timeline *timeline)
{
	struct timeline_stats stats;

	timeline_get_stats(timeline, &stats);
	return stats;
}

/* Adds a group whose path has the maximum length and begins like all others. */
static const struct timeline_group *bring(struct timeline *timeline, uint32_t user, uint32_t number,
                                          uint64_t second)
{
	const struct control_group_usage usage = {.bytes = second << 20,
	                                          .limit_bytes = CONTROL_GROUP_NO_LIMIT};
	char path[MAX_CONTROL_GROUP_BYTES];

	memset(path, 'x', sizeof(path));
	snprintf(path + 490, sizeof(path) - 490, "/%u-%u", user, number);
	path[0] = '/';
	return timeline_group(timeline, path, user, &usage, second * 1000);
}

START_TEST(nobody_takes_all_groups)
{
	_cleanup_(timeline_freep) struct timeline *timeline = timeline_new(&small);
	uint64_t has = 0, had;

	for (uint32_t number = 0; number < 5000; number++)
		has += bring(timeline, HIS, number, 1) != NULL;
	ck_assert_uint_ge(has, 1700);
	ck_assert_uint_le(has, 2048);
	ck_assert_uint_eq(stats_of(timeline).dropped, 5000 - has);
	for (uint32_t number = 0; number < 500; number++)
		ck_assert_ptr_nonnull(bring(timeline, HERS, number, 1));
	for (uint32_t number = 0; number < 500; number++)
		ck_assert_ptr_nonnull(bring(timeline, 0, number, 1));
	/* A user whose groups are gone can have as many again. */
	had = has;
	has = 0;
	timeline_settle(timeline, 2 * small.keep_ms);
	ck_assert_uint_eq(stats_of(timeline).groups, 0);
	for (uint32_t number = 0; number < 5000; number++)
		has += bring(timeline, HIS, number, 2 * small.keep_ms / 1000) != NULL;
	ck_assert_uint_eq(has, had);
}
END_TEST

/* Root and HERS each have one process that has ended and one that changes. */
static void see_others(struct timeline *timeline, uint64_t second)
{
	if (second < 10) {
		see(timeline, 0, 10001, second, second);
		see(timeline, HERS, 10002, second, second);
	}
	see(timeline, 0, 10003, second, second % 2);
	see(timeline, HERS, 10004, second, second % 2);
}

static void assert_others(const struct timeline *timeline, uint64_t seconds)
{
	for (uint32_t pid = 10001; pid <= 10004; pid++) {
		ck_assert_ptr_nonnull(timeline_find(timeline, pid));
		ck_assert_uint_eq(timeline_find(timeline, pid)->series.count,
		                  pid <= 10002 ? 10 : seconds);
	}
}

START_TEST(groups_are_not_paid_by_root)
{
	_cleanup_(timeline_freep) struct timeline *timeline = timeline_new(&small);

	for (uint64_t s = 0; s < 100; s++) {
		for (uint32_t number = 0; number < 4000; number++)
			bring(timeline, HIS, number, s);
		see_others(timeline, s);
		timeline_settle(timeline, s * 1000);
	}
	assert_others(timeline, 100);
	ck_assert_uint_eq(stats_of(timeline).evicted, 0);
}
END_TEST

START_TEST(many_that_sleep_cost_others_nothing)
{
	enum { ASLEEP = 2000 };
	_cleanup_(timeline_freep) struct timeline *timeline = timeline_new(&small);

	for (uint64_t s = 0; s < 200; s++) {
		for (uint32_t pid = 1; pid <= ASLEEP; pid++)
			see(timeline, HIS, pid, s, 1);
		see_others(timeline, s);
		timeline_settle(timeline, s * 1000);
	}
	assert_others(timeline, 200);
	/* Processes with a past do not cost other users anything either: their own past is
	 * dropped. */
	for (uint64_t s = 200; s < 400; s++) {
		for (uint32_t pid = 1; pid <= ASLEEP; pid++)
			see(timeline, HIS, pid, s, pid <= 200 ? s % 3 : 1);
		see_others(timeline, s);
		timeline_settle(timeline, s * 1000);
	}
	assert_others(timeline, 400);
	ck_assert_uint_lt(timeline_find(timeline, 1)->series.count, 150);
}
END_TEST

/* The oldest point of a sleeping process cannot be dropped, and must not stand for the age of other
 * processes' points. */
START_TEST(the_past_goes_beside_one_that_sleeps)
{
	_cleanup_(timeline_freep) struct timeline *timeline = timeline_new(&small);

	for (uint64_t s = 0; s < 2000; s++) {
		see(timeline, HIS, 1, s, 1);
		see(timeline, HIS, 2, s, s < 1999 ? 1 : 2);
		for (uint32_t pid = 3; pid <= 100; pid++)
			see(timeline, HIS, pid, s, s % 3);
		timeline_settle(timeline, s * 1000);
	}
	ck_assert_uint_le(stats_of(timeline).bytes, small.max_bytes + small.max_bytes / 8);
}
END_TEST

START_TEST(who_fills_the_table_with_living_ones_is_refused)
{
	const struct timeline_limits few = {
		.keep_ms = 3600 * 1000, .max_bytes = 1 << 20, .max_processes = 320};
	_cleanup_(timeline_freep) struct timeline *timeline = timeline_new(&few);

	for (uint64_t s = 0; s < 20; s++) {
		for (uint32_t pid = 1; pid <= 400; pid++)
			see(timeline, HIS, pid, s, 1);
		if (s == 0)
			ck_assert_uint_eq(stats_of(timeline).dropped, 80);
		timeline_settle(timeline, s * 1000);
	}
	/* All processes are alive, so no entry can be dropped for HERS. */
	see(timeline, HERS, 1001, 20, 1);
	ck_assert_ptr_null(timeline_find(timeline, 1001));
	for (uint64_t s = 20; s < 40; s++) {
		for (uint32_t pid = 1; pid <= 250; pid++)
			see(timeline, HIS, pid, s, 1);
		timeline_settle(timeline, s * 1000);
		/* Ended processes of HIS are dropped, because HIS has the most. */
		for (uint32_t pid = 1001; pid <= 1040; pid++)
			see(timeline, HERS, pid, s, 1);
	}
	for (uint32_t pid = 1001; pid <= 1040; pid++)
		ck_assert_ptr_nonnull(timeline_find(timeline, pid));
	/* The processes of HERS end, and HIS starts as many as it can. */
	for (uint64_t s = 41; s < 60; s++) {
		for (uint32_t pid = 1; pid <= 400; pid++)
			see(timeline, HIS, pid, s, 1);
		timeline_settle(timeline, s * 1000);
	}
	for (uint32_t pid = 1001; pid <= 1040; pid++) {
		ck_assert_ptr_nonnull(timeline_find(timeline, pid));
		ck_assert(timeline_find(timeline, pid)->ended);
	}
	/* A new process of HERS gets the place of another one of HERS. */
	see(timeline, HERS, 1041, 61, 1);
	ck_assert_ptr_nonnull(timeline_find(timeline, 1041));
}
END_TEST

START_TEST(who_becomes_another_counts_for_that_one)
{
	const struct timeline_limits few = {
		.keep_ms = 3600 * 1000, .max_bytes = 1 << 20, .max_processes = 32};
	_cleanup_(timeline_freep) struct timeline *timeline = timeline_new(&few);

	for (uint64_t s = 0; s < 3; s++) {
		for (uint32_t pid = 1; pid <= 24; pid++)
			see(timeline, s ? HIS : HERS, pid, s, 1);
		if (s < 2)
			for (uint32_t pid = 100; pid < 108; pid++)
				see(timeline, HERS, pid, s, 1);
		timeline_settle(timeline, s * 1000);
	}
	see(timeline, HIS, 25, 3, 1);
	ck_assert_ptr_null(timeline_find(timeline, 25));
	see(timeline, HERS, 200, 3, 1);
	ck_assert_ptr_nonnull(timeline_find(timeline, 200));
}
END_TEST

Suite *timeline_room_suite(void)
{
	Suite *suite = suite_create("timeline_room");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, nobody_takes_all_groups);
	tcase_add_test(tests, groups_are_not_paid_by_root);
	tcase_add_test(tests, many_that_sleep_cost_others_nothing);
	tcase_add_test(tests, the_past_goes_beside_one_that_sleeps);
	tcase_add_test(tests, who_fills_the_table_with_living_ones_is_refused);
	tcase_add_test(tests, who_becomes_another_counts_for_that_one);
	suite_add_tcase(suite, tests);
	return suite;
}
