/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Processes near a memory limit: that of a control group, and that of the host.
 */
#include "tests/unit/suites.h"

#include "growth/near_limit.h"

static struct memory_reading processes[] = {
	{.pid = 10, .figures.values[MEMORY_rss_anon] = 50, .group = 0},
	{.pid = 11, .figures.values[MEMORY_rss_anon] = 900, .group = 0},
	{.pid = 12, .figures.values[MEMORY_rss_anon] = 700, .group = 1},
	{.pid = 13, .figures.values[MEMORY_rss_anon] = 5000, .group = MEMORY_NO_GROUP},
};

static struct near_limit near;

static void end(void)
{
	near_limit_release(&near);
}

/* Starts again with an empty near_limit. */
static void begin(void)
{
	end();
	near = (struct near_limit){0};
	near_limit_init(&near);
}

static struct memory_readings readings_of(struct memory_group_reading groups[2], uint64_t bytes)
{
	groups[0] = (struct memory_group_reading){"/a", {bytes, 1000, 0}, 0};
	groups[1] = (struct memory_group_reading){"/b", {700, CONTROL_GROUP_NO_LIMIT, 0}, 0};
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

	ck_assert_uint_eq(near_limit_find(&near, &readings, 1000, named), 0);
	readings = readings_of(groups, 960);
	ck_assert_uint_eq(near_limit_find(&near, &readings, 2000, named), 1);
	ck_assert_uint_eq(named[0]->pid, 11);
	/* Page cache does not count. */
	begin();
	groups[0].usage.file_bytes = 100;
	ck_assert_uint_eq(near_limit_find(&near, &readings, 3000, named), 0);
}
END_TEST

START_TEST(names_none_twice_a_minute)
{
	struct memory_group_reading groups[2];
	struct memory_readings readings = readings_of(groups, 999);
	const struct memory_reading *named[NEAR_AT_ONCE];
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

	readings.host.available_bytes = 3000;
	ck_assert_uint_eq(near_limit_find(&near, &readings, 1000, named), 0);
	readings.host.available_bytes = 2999;
	ck_assert_uint_eq(near_limit_find(&near, &readings, 1000, named), NEAR_OF_HOST);
	ck_assert_uint_eq(named[0]->pid, 13);
	ck_assert_uint_eq(named[1]->pid, 11);
	ck_assert_uint_eq(near_limit_find(&near, &readings, 2000, named), 0);
	/* Host figures that could not be read name no process. */
	begin();
	readings.host = (struct memory_host){0};
	ck_assert_uint_eq(near_limit_find(&near, &readings, 1000, named), 0);
}
END_TEST

/* Processes that are each near the limit of a control group of their own. */
struct crowd {
	struct memory_reading processes[200];
	struct memory_group_reading groups[200];
	struct memory_readings readings;
};

static void crowd_add(struct crowd *crowd, uint32_t pid, uint32_t user)
{
	size_t at = crowd->readings.process_count++;

	crowd->readings.processes = crowd->processes;
	crowd->readings.groups = crowd->groups;
	crowd->readings.group_count++;
	crowd->processes[at] =
		(struct memory_reading){.pid = pid, .user = user, .group = (uint32_t)at};
	crowd->groups[at] = (struct memory_group_reading){"/x", {1000, 1000, 0}, 0};
}

/* The number of processes of a user that are named in that second. */
static size_t named_of(struct crowd *crowd, uint32_t user, uint64_t second)
{
	const struct memory_reading *named[NEAR_AT_ONCE];
	size_t count = near_limit_find(&near, &crowd->readings, second * 1000, named), his = 0;

	for (size_t i = 0; i < count; i++)
		his += named[i]->user == user;
	return his;
}

START_TEST(nobody_takes_all_places)
{
	enum { HIM = 1000, HER = 1001 };
	static struct crowd crowd;
	size_t his = 0;

	crowd = (struct crowd){0};
	for (uint32_t i = 0; i < 150; i++)
		crowd_add(&crowd, 100 + i, HIM);
	for (uint64_t s = 1; s < 50; s++)
		his += named_of(&crowd, HIM, s);
	ck_assert_uint_ge(his, NEAR_REMEMBERED / 4);
	ck_assert_uint_le(his, NEAR_REMEMBERED / 2);
	/* HER's process is named at once. So is root's, which is not named again a second later. */
	crowd_add(&crowd, 10, HER);
	crowd_add(&crowd, 11, 0);
	ck_assert_uint_eq(named_of(&crowd, HER, 50), 1);
	ck_assert(!named_of(&crowd, 0, 51));
	/* The same holds for a reading in which HIM's processes come first. */
	begin();
	ck_assert_uint_eq(named_of(&crowd, HER, 52), 1);
	ck_assert_uint_gt(named_of(&crowd, HIM, 53), 0);
	/* HIM's share is free again later. */
	ck_assert_uint_gt(named_of(&crowd, HIM, 200), 0);
}
END_TEST

START_TEST(remembers_only_so_many)
{
	const struct memory_reading *named[NEAR_AT_ONCE];
	static struct crowd crowd;
	size_t times = 0;

	crowd = (struct crowd){0};
	for (uint32_t i = 0; i < 200; i++)
		crowd_add(&crowd, 100 + i, 1000 + i);
	for (uint64_t s = 1; s < 50; s++)
		times += near_limit_find(&near, &crowd.readings, s * 1000, named);
	ck_assert_uint_ge(times, NEAR_REMEMBERED * 3 / 4);
	ck_assert_uint_le(times, NEAR_REMEMBERED);
}
END_TEST

Suite *near_limit_suite(void)
{
	Suite *suite = suite_create("near_limit");
	TCase *tests = tcase_create("all");

	tcase_add_checked_fixture(tests, begin, end);
	tcase_add_test(tests, names_the_largest_of_a_group);
	tcase_add_test(tests, names_none_twice_a_minute);
	tcase_add_test(tests, names_the_largest_of_the_host);
	tcase_add_test(tests, nobody_takes_all_places);
	tcase_add_test(tests, remembers_only_so_many);
	suite_add_tcase(suite, tests);
	return suite;
}
