/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Who is near the limit of memory, of a group's and of the host's.
 */
#include "tests/unit/suites.h"

#include "collect/near_limit.h"

static struct memory_reading processes[] = {
	{.pid = 10, .figures.values[MEMORY_rss_anon] = 50, .group = 0},
	{.pid = 11, .figures.values[MEMORY_rss_anon] = 900, .group = 0},
	{.pid = 12, .figures.values[MEMORY_rss_anon] = 700, .group = 1},
	{.pid = 13, .figures.values[MEMORY_rss_anon] = 5000, .group = MEMORY_NO_GROUP},
};

static struct memory_readings readings_of(struct memory_group_reading groups[2], uint64_t bytes)
{
	groups[0] = (struct memory_group_reading){"/a", {bytes, 1000, 0}};
	groups[1] = (struct memory_group_reading){"/b", {700, CONTROL_GROUP_NO_LIMIT, 0}};
	return (struct memory_readings){
		.processes = processes,
		.process_count = sizeof(processes) / sizeof(processes[0]),
		.groups = groups,
		.group_count = 2,
		.host = {100000, 50000},
	};
}

START_TEST(names_the_largest_of_a_group)
{
	struct memory_group_reading groups[2];
	struct memory_readings readings = readings_of(groups, 949);
	const struct memory_reading *named[NEAR_AT_ONCE];
	struct near_limit near = {0};

	ck_assert_uint_eq(near_limit_find(&near, &readings, 1000, named), 0);
	readings = readings_of(groups, 960);
	ck_assert_uint_eq(near_limit_find(&near, &readings, 2000, named), 1);
	ck_assert_uint_eq(named[0]->pid, 11);
	/* Page cache is no need. */
	near = (struct near_limit){0};
	groups[0].usage.file_bytes = 100;
	ck_assert_uint_eq(near_limit_find(&near, &readings, 3000, named), 0);
}
END_TEST

START_TEST(names_none_twice_a_minute)
{
	struct memory_group_reading groups[2];
	struct memory_readings readings = readings_of(groups, 999);
	const struct memory_reading *named[NEAR_AT_ONCE];
	struct near_limit near = {0};
	size_t times = 0;

	for (uint64_t s = 1; s <= 120; s++)
		times += near_limit_find(&near, &readings, s * 1000, named);
	ck_assert_uint_eq(times, 2);
}
END_TEST

START_TEST(names_the_largest_of_the_host)
{
	struct memory_group_reading groups[2];
	struct memory_readings readings = readings_of(groups, 100);
	const struct memory_reading *named[NEAR_AT_ONCE];
	struct near_limit near = {0};

	readings.host.available_bytes = 3000;
	ck_assert_uint_eq(near_limit_find(&near, &readings, 1000, named), 0);
	readings.host.available_bytes = 2999;
	ck_assert_uint_eq(near_limit_find(&near, &readings, 1000, named), NEAR_AT_ONCE);
	ck_assert_uint_eq(named[0]->pid, 13);
	ck_assert_uint_eq(named[1]->pid, 11);
	ck_assert_uint_eq(near_limit_find(&near, &readings, 2000, named), 0);
	/* What could not be read is no need. */
	near = (struct near_limit){0};
	readings.host = (struct memory_host){0};
	ck_assert_uint_eq(near_limit_find(&near, &readings, 1000, named), 0);
}
END_TEST

START_TEST(remembers_only_so_many)
{
	struct memory_reading many[NEAR_REMEMBERED + 10];
	struct memory_readings readings = {.processes = many, .host = {1000, 1}};
	const struct memory_reading *named[NEAR_AT_ONCE];
	struct near_limit near = {0};
	size_t times = 0;

	/* A new largest one each time. */
	for (size_t i = 0; i < sizeof(many) / sizeof(many[0]); i++) {
		many[i] = (struct memory_reading){.pid = (uint32_t)i + 1};
		many[i].figures.values[MEMORY_rss_anon] = i;
		readings.process_count = i + 1;
		times += near_limit_find(&near, &readings, 1000, named);
	}
	ck_assert_uint_eq(times, NEAR_REMEMBERED);
	ck_assert_uint_gt(near_limit_find(&near, &readings, 62000, named), 0);
}
END_TEST

Suite *near_limit_suite(void)
{
	Suite *suite = suite_create("near_limit");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, names_the_largest_of_a_group);
	tcase_add_test(tests, names_none_twice_a_minute);
	tcase_add_test(tests, names_the_largest_of_the_host);
	tcase_add_test(tests, remembers_only_so_many);
	suite_add_tcase(suite, tests);
	return suite;
}
