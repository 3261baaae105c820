/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Interning texts, adding values up, and sealing a profile.
 */
#include "tests/unit/often.h"
#include "tests/unit/suites.h"

#include "profile/builder.h"

#include <stdio.h>
#include <string.h>

enum { MANY = 50000 };

START_TEST(interns_everything)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	struct mapping mapping = {.start = 1, .limit = 2};
	struct function function = {.start_line = 3};
	struct task task = {.pid = 0};
	uint32_t a, location;

	a = builder_text(builder, "a");
	ck_assert_uint_eq(a, 1);
	ck_assert_uint_eq(builder_text(builder, "a"), a);
	ck_assert_uint_ne(builder_text(builder, "ab"), a);
	ck_assert_uint_eq(builder_string(builder, "ab", 1), a);
	ck_assert_uint_eq(builder_string(builder, "a\0b", 3), a);
	ck_assert_uint_eq(builder_string(builder, "", 0), 0);
	ck_assert_uint_eq(builder_string(builder, "\0x", 2), 0);
	ck_assert_uint_eq(builder_mapping(builder, &mapping), 1);
	ck_assert_uint_eq(builder_mapping(builder, &mapping), 1);
	mapping.kind = MAPPING_PSEUDO;
	ck_assert_uint_eq(builder_mapping(builder, &mapping), 2);
	ck_assert_uint_eq(builder_function(builder, &function), 1);
	ck_assert_uint_eq(builder_function(builder, &function), 1);
	/* Pid 0 is a task like any other; it does not mean "none". */
	ck_assert_uint_eq(builder_task(builder, &task), 1);
	ck_assert_uint_eq(builder_task(builder, &task), 1);
	location = builder_location(builder, 1, 0x10);
	ck_assert_uint_eq(builder_location(builder, 1, 0x10), location);
	ck_assert_uint_ne(builder_location(builder, 2, 0x10), location);
	ck_assert_uint_ne(builder_location(builder, 1, 0x11), location);
	ck_assert_uint_eq(builder_node(builder, 0, location), 1);
	ck_assert_uint_eq(builder_node(builder, 1, location), 2);
	ck_assert_uint_eq(builder_node(builder, 0, location), 1);
	ck_assert_int_eq(builder_error(builder), 0);
}
END_TEST

START_TEST(adds_samples_up)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	_cleanup_(profile_unrefp) struct profile *profile = NULL;
	struct task task = {.pid = 7, .tid = 8, .comm = builder_text(builder, "seven")};
	uint32_t node = builder_node(builder, 0, builder_location(builder, 0, 5));
	uint32_t id = builder_task(builder, &task);

	builder_value_type(builder, "samples", "count");
	builder_period(builder, "cpu", "nanoseconds", 100);
	builder_time(builder, 1, 2, 3);
	builder_ticks(builder, &(struct ticks){10, 5, 1, 2});
	builder_ticks(builder, &(struct ticks){1, 1, 0, 1});
	builder_comment(builder, "once");
	builder_comment(builder, "once");
	builder_comment(builder, "");
	builder_sample(builder, node, id, (uint64_t[PROFILE_VALUES]){1, 2, 3, 4});
	builder_sample(builder, node, id, (uint64_t[PROFILE_VALUES]){10, 20, 30, 40});
	builder_sample(builder, node, 0, (uint64_t[PROFILE_VALUES]){1, 0, 0, 0});
	ck_assert_int_eq(builder_seal(builder, &profile), 0);
	ck_assert_uint_eq(profile->sample_count, 3);
	for (uint64_t i = 0; i < PROFILE_VALUES; i++)
		ck_assert_uint_eq(profile->samples[1].values[i], 11 * (i + 1));
	ck_assert_uint_eq(profile->ticks.total, 11);
	ck_assert_uint_eq(profile->ticks.idle, 6);
	ck_assert_uint_eq(profile->ticks.missed, 3);
	ck_assert_uint_eq(profile->comment_count, 2);
	ck_assert_uint_eq(profile->period, 100);
	ck_assert_uint_eq(profile->duration_ns, 3);
	ck_assert_str_eq(profile_string(profile, profile->tasks[id].comm), "seven");
	ck_assert_str_eq(profile_string(profile, 0), "");
}
END_TEST

/* Programs choose some values: sums of samples stay the largest number. */
START_TEST(sums_do_not_wrap)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	uint32_t node = builder_node(builder, 0, builder_location(builder, 0, 5));
	const struct profile *profile;

	builder_sample(builder, node, 0, (uint64_t[PROFILE_VALUES]){1, UINT64_MAX - 1, 0, 0});
	for (int i = 0; i < 3; i++)
		builder_sample(builder, node, 0, (uint64_t[PROFILE_VALUES]){1, 1, 0, 0});
	profile = builder_view(builder);
	ck_assert_uint_eq(profile->sample_count, 2);
	ck_assert_uint_eq(profile->samples[1].values[0], 4);
	ck_assert_uint_eq(profile->samples[1].values[1], UINT64_MAX);
	builder_ticks(builder, &(struct ticks){.total = UINT64_MAX - 1});
	builder_ticks(builder, &(struct ticks){.total = 2});
	ck_assert_uint_eq(builder_view(builder)->ticks.total, UINT64_MAX);
}
END_TEST

START_TEST(names_and_moves_locations)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	struct mapping mapping = {.kind = MAPPING_KERNEL};
	uint32_t kernel = builder_mapping(builder, &mapping), module, a, b;
	struct function function = {.name = builder_text(builder, "f")};
	const struct profile *view;

	mapping.path = builder_text(builder, "[module]");
	module = builder_mapping(builder, &mapping);
	a = builder_location(builder, kernel, 1);
	b = builder_location(builder, kernel, 2);
	builder_line(builder, a, builder_function(builder, &function), 10);
	builder_line(builder, a, builder_function(builder, &function), 11);
	builder_line(builder, b, builder_function(builder, &function), 12);
	builder_move(builder, a, module, 1);
	builder_move(builder, a, module, 1);
	ck_assert_uint_eq(builder_location(builder, module, 1), a);
	builder_move(builder, a, module, 3);
	ck_assert_uint_eq(builder_location(builder, module, 3), a);
	ck_assert_uint_ne(builder_location(builder, module, 1), a);
	view = builder_view(builder);
	ck_assert_uint_eq(view->locations[a].line_count, 2);
	ck_assert_uint_eq(view->lines[view->locations[a].first_line + 1].number, 11);
	ck_assert_uint_eq(view->lines[view->locations[b].first_line].number, 12);
	ck_assert_uint_eq(view->locations[a].mapping, module);
}
END_TEST

START_TEST(renames_what_there_is)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	struct function function = {.name = builder_text(builder, "_Z1fv")};
	struct task task = {.pid = 1, .kernel = function.name};
	uint32_t location = builder_location(builder, 0, 1), id = builder_task(builder, &task);
	const struct profile *view;

	builder_line(builder, location, builder_function(builder, &function), 10);
	function.system_name = function.name;
	function.name = task.kernel = builder_text(builder, "f()");
	builder_rename(builder, location, builder_function(builder, &function));
	builder_change_task(builder, id, &task);
	view = builder_view(builder);
	ck_assert_uint_eq(view->locations[location].line_count, 1);
	ck_assert_uint_eq(view->lines[view->locations[location].first_line].number, 10);
	ck_assert_uint_eq(view->lines[view->locations[location].first_line].function,
	                  builder_function(builder, &function));
	ck_assert_str_eq(profile_string(view, view->tasks[id].kernel), "f()");
	ck_assert_uint_eq(builder_task(builder, &task), id);
	/* The task is no longer found by its old kernel. */
	task.kernel = function.system_name;
	ck_assert_uint_ne(builder_task(builder, &task), id);
}
END_TEST

START_TEST(grows)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	_cleanup_(profile_unrefp) struct profile *profile = NULL;
	char name[32];

	for (uint32_t round = 0; round < 2; round++) {
		uint32_t parent = 0;

		for (uint32_t i = 1; i <= MANY; i++) {
			snprintf(name, sizeof(name), "name %u", i);
			ASSERT_OFTEN(builder_text(builder, name) == i);
			ASSERT_OFTEN(builder_location(builder, 0, i) == i);
			parent = builder_node(builder, parent, i);
			ASSERT_OFTEN(parent == i);
		}
	}
	ck_assert_int_eq(builder_seal(builder, &profile), 0);
	ck_assert_uint_eq(profile->node_count, MANY + 1);
	ck_assert_str_eq(profile_string(profile, 777), "name 777");
	for (uint32_t i = 1; i < profile->node_count; i++)
		ASSERT_OFTEN(profile->nodes[i].parent < i);
	ck_assert_uint_gt(profile->memory_bytes, MANY * sizeof(struct node));
}
END_TEST

START_TEST(empty_and_shared)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	struct profile *profile = NULL;

	ck_assert_int_eq(builder_seal(builder, &profile), 0);
	ck_assert_uint_eq(profile->sample_count, 1);
	ck_assert_uint_eq(profile->string_count, 1);
	ck_assert_ptr_eq(profile_ref(profile), profile);
	profile_unref(profile);
	ck_assert_int_eq(profile->references, 1);
	profile_unref(profile);
	profile_unref(NULL);
	builder_free(NULL);
}
END_TEST

Suite *builder_suite(void)
{
	Suite *suite = suite_create("builder");
	TCase *tests = tcase_create("builder");

	tcase_add_test(tests, interns_everything);
	tcase_add_test(tests, adds_samples_up);
	tcase_add_test(tests, sums_do_not_wrap);
	tcase_add_test(tests, names_and_moves_locations);
	tcase_add_test(tests, renames_what_there_is);
	tcase_add_test(tests, grows);
	tcase_add_test(tests, empty_and_shared);
	suite_add_tcase(suite, tests);
	return suite;
}
