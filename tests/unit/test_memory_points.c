/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The points of a timeline that /memory draws: straight lines between them show the figures.
 */
#include "tests/unit/suites.h"

#include "memory/timeline_copy.h"
#include "views/memory_points.h"

#include <string.h>

static const struct timeline_limits ample = {
	.keep_ms = 600 * 1000, .max_bytes = 1 << 30, .max_processes = 10};

static void see(struct timeline *timeline, uint64_t second, uint64_t kib, uint64_t group_kib)
{
	struct timeline_process seen = {.pid = 1, .comm = "x", .seen_ms = second * 1000};
	struct control_group_usage usage = {.bytes = group_kib * 1024,
	                                    .limit_bytes = CONTROL_GROUP_NO_LIMIT};

	for (int i = 0; i < MEMORY_FIGURE_COUNT; i++)
		seen.figures.values[i] = MEMORY_UNKNOWN;
	seen.figures.values[MEMORY_rss_anon] = kib * 1024;
	if (group_kib)
		seen.group = timeline_group(timeline, "/g", 0, &usage, second * 1000);
	timeline_process(timeline, &seen);
}

/* "SECOND:KIB:KIB OF THE GROUP ...". The points' own times are 1000 s later, on the wall clock. */
static void expect(const struct timeline *timeline, uint64_t from_second, const char *expected)
{
	struct timeline_copy copy;
	char text[256] = "";
	json_t *points;

	/* As in the daemon, the points are made from a copy, which outlives the timeline. */
	ck_assert_int_eq(timeline_copy(timeline_find(timeline, 1), &copy), 0);
	points = memory_points_json(&copy.process, from_second * 1000, 1000 * 1000);
	timeline_copy_release(&copy);
	ck_assert_ptr_nonnull(points);
	for (size_t i = 0; i < json_array_size(points); i++) {
		json_t *point = json_array_get(points, i);
		json_t *group = json_array_get(point, 1 + MEMORY_FIGURE_COUNT);

		ck_assert_uint_eq(json_array_size(point), 2 + MEMORY_FIGURE_COUNT);
		ck_assert(json_is_null(json_array_get(point, 1 + MEMORY_swap)));
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%lld:%lld:%lld",
		         i ? " " : "",
		         (long long)json_integer_value(json_array_get(point, 0)) / 1000 - 1000,
		         (long long)json_integer_value(json_array_get(point, 1)) / 1024,
		         json_is_null(group) ? -1LL : (long long)json_integer_value(group) / 1024);
	}
	json_decref(points);
	ck_assert_str_eq(text, expected);
}

START_TEST(a_rest_has_both_its_ends)
{
	_cleanup_(timeline_freep) struct timeline *timeline = timeline_new(&ample);

	for (uint64_t second = 0; second <= 20; second++)
		see(timeline, second, second < 10 ? 100 : 200, 0);
	expect(timeline, 0, "0:100:-1 9:100:-1 10:200:-1 20:200:-1");
	expect(timeline, 5, "5:100:-1 9:100:-1 10:200:-1 20:200:-1");
	expect(timeline, 10, "10:200:-1 20:200:-1");
	expect(timeline, 15, "15:200:-1 20:200:-1");
	expect(timeline, 25, "");
}
END_TEST

START_TEST(what_changes_each_second_is_no_rest)
{
	_cleanup_(timeline_freep) struct timeline *timeline = timeline_new(&ample);

	for (uint64_t second = 5; second <= 8; second++)
		see(timeline, second, second, 0);
	expect(timeline, 0, "5:5:-1 6:6:-1 7:7:-1 8:8:-1");
	expect(timeline, 7, "7:7:-1 8:8:-1");
}
END_TEST

START_TEST(the_group_moves_beside_the_process)
{
	_cleanup_(timeline_freep) struct timeline *timeline = timeline_new(&ample);

	for (uint64_t second = 0; second <= 6; second++)
		see(timeline, second, second < 3 ? 1 : 2, second < 5 ? 50 : 60);
	expect(timeline, 0, "0:1:50 2:1:50 3:2:50 4:2:50 5:2:60 6:2:60");
	expect(timeline, 4, "4:2:50 5:2:60 6:2:60");
}
END_TEST

START_TEST(what_nobody_looked_at_is_a_slope)
{
	_cleanup_(timeline_freep) struct timeline *timeline = timeline_new(&ample);

	for (uint64_t second = 0; second <= 5; second++)
		see(timeline, second, 100, 50);
	see(timeline, 15, 200, 60);
	see(timeline, 16, 200, 60);
	/* The group's value holds until one second before it changes. */
	expect(timeline, 0, "0:100:50 4:100:50 5:100:50 14:190:50 15:200:60 16:200:60");
	expect(timeline, 10, "10:150:50 14:190:50 15:200:60 16:200:60");
}
END_TEST

START_TEST(a_group_moves_beside_one_at_rest)
{
	_cleanup_(timeline_freep) struct timeline *timeline = timeline_new(&ample);

	see(timeline, 0, 100, 50);
	see(timeline, 5, 100, 50);
	for (uint64_t second = 6; second < 15; second++) {
		struct control_group_usage usage = {.bytes = (second < 10 ? 50 : 60) * 1024};

		timeline_group(timeline, "/g", 0, &usage, second * 1000);
		timeline_alive(timeline, 1, second * 1000);
		timeline_settle(timeline, second * 1000);
	}
	ck_assert(!timeline_find(timeline, 1)->ended);
	see(timeline, 15, 200, 60);
	expect(timeline, 8, "8:130:50 9:140:50 10:150:60 14:190:60 15:200:60");
	timeline_settle(timeline, 16000);
	ck_assert(timeline_find(timeline, 1)->ended);
}
END_TEST

START_TEST(names_what_a_point_has)
{
	json_t *fields = memory_fields_json();

	ck_assert_uint_eq(json_array_size(fields), 2 + MEMORY_FIGURE_COUNT);
	ck_assert_str_eq(json_string_value(json_array_get(fields, 0)), "unix_ms");
	ck_assert_str_eq(json_string_value(json_array_get(fields, 1 + MEMORY_swap)), "swap");
	json_decref(fields);
}
END_TEST

Suite *memory_points_suite(void)
{
	Suite *suite = suite_create("memory_points");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, a_rest_has_both_its_ends);
	tcase_add_test(tests, what_changes_each_second_is_no_rest);
	tcase_add_test(tests, the_group_moves_beside_the_process);
	tcase_add_test(tests, what_nobody_looked_at_is_a_slope);
	tcase_add_test(tests, a_group_moves_beside_one_at_rest);
	tcase_add_test(tests, names_what_a_point_has);
	suite_add_tcase(suite, tests);
	return suite;
}
