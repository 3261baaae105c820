/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The stacks that made memory grow, as JSON, and the bound on its size.
 */
#include "tests/unit/suites.h"

#include "base/bounds.h"
#include "views/memory_stacks.h"

#include <errno.h>
#include <string.h>

enum { INLINED = 64 };

/* A profile of one call path with that many frames, each with 64 lines of that function. Two
 * threads have it. */
static struct profile *deep(const char *name, int frames)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	struct mapping file = {.path = builder_text(builder, "/bin/a")};
	struct function function = {.name = builder_text(builder, name)};
	uint32_t file_id = builder_mapping(builder, &file), node = 0;
	uint32_t function_id = builder_function(builder, &function);
	struct profile *profile = NULL;

	for (int i = 0; i < frames; i++) {
		uint32_t location = builder_location(builder, file_id, (uint64_t)i + 1);

		for (uint32_t line = 0; line < INLINED; line++)
			builder_line(builder, location, function_id, line);
		node = builder_node(builder, node, location);
	}
	for (uint32_t tid = 1; tid <= 2; tid++) {
		struct task task = {
			.pid = 1, .tid = tid, .memory = builder_text(builder, "anonymous")};

		builder_sample(builder, node, builder_task(builder, &task),
		               (uint64_t[PROFILE_VALUES]){1, 4096});
	}
	ck_assert_int_eq(builder_seal(builder, &profile), 0);
	return profile;
}

START_TEST(threads_are_added_up)
{
	_cleanup_(profile_unrefp) struct profile *profile = deep("main", 2);
	json_t *stacks = NULL, *stack;

	ck_assert_int_eq(memory_stacks_of(profile, 0, &stacks), 0);
	ck_assert_uint_eq(json_array_size(stacks), 1);
	stack = json_array_get(stacks, 0);
	ck_assert_int_eq(json_integer_value(json_object_get(stack, "bytes")), 8192);
	ck_assert_str_eq(json_string_value(json_object_get(stack, "kind")), "anonymous");
	ck_assert_uint_eq(json_array_size(json_object_get(stack, "frames")), 2 * INLINED);
	json_decref(stacks);
}
END_TEST

/* Stacks that fit when they are written are never refused. */
START_TEST(what_is_written_is_counted)
{
	_cleanup_(profile_unrefp) struct profile *profile = deep("main", 3);
	json_t *stacks = NULL;
	char *text;
	size_t len, names;

	ck_assert_int_eq(memory_stacks_of(profile, 0, &stacks), 0);
	stacks = json_pack("{s:o}", "growing_stacks", stacks);
	text = json_dumps(stacks, JSON_INDENT(2));
	len = strlen(text);
	names = (size_t)3 * INLINED * strlen("        \"main\",\n");
	free(text);
	json_decref(stacks);
	ck_assert_int_eq(memory_stacks_of(profile, len, &stacks), 0);
	json_decref(stacks);
	ck_assert_int_eq(memory_stacks_of(profile, names, &stacks), 0);
	json_decref(stacks);
	ck_assert_int_eq(memory_stacks_of(profile, names - 1, &stacks), -EFBIG);
}
END_TEST

/* 512 frames of 64 inlined calls with names of 64 KiB each: 2 GiB. */
START_TEST(the_tree_is_not_completed_first)
{
	_cleanup_free_ char *name = malloc(MAX_SYMBOL_NAME_BYTES);
	_cleanup_(profile_unrefp) struct profile *profile = NULL;
	json_t *stacks = NULL;

	memset(name, 'x', MAX_SYMBOL_NAME_BYTES - 1);
	name[MAX_SYMBOL_NAME_BYTES - 1] = '\0';
	profile = deep(name, 512);
	ck_assert_int_eq(memory_stacks_of(profile, 1 << 20, &stacks), -EFBIG);
	ck_assert_ptr_null(stacks);
}
END_TEST

Suite *memory_stacks_suite(void)
{
	Suite *suite = suite_create("memory_stacks");
	TCase *tcase = tcase_create("memory_stacks");

	tcase_add_test(tcase, threads_are_added_up);
	tcase_add_test(tcase, what_is_written_is_counted);
	tcase_add_test(tcase, the_tree_is_not_completed_first);
	suite_add_tcase(suite, tcase);
	return suite;
}
