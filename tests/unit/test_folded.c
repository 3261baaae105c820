/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Folded call paths.
 */
#include "tests/unit/suites.h"

#include "encode/encoder.h"
#include "profile/builder.h"

static uint32_t frame(struct builder *builder, uint32_t parent, uint32_t mapping, uint64_t address,
                      const char *name)
{
	uint32_t location = builder_location(builder, mapping, address);
	struct function function = {.name = builder_text(builder, name)};

	if (!builder_view(builder)->locations[location].line_count)
		builder_line(builder, location, builder_function(builder, &function), 0);
	return builder_node(builder, parent, location);
}

static void sample(struct builder *builder, uint32_t node, const char *comm, uint32_t tid,
                   uint64_t count)
{
	struct task task = {.pid = 1, .tid = tid, .comm = builder_text(builder, comm)};

	builder_sample(builder, node, builder_task(builder, &task),
	               (uint64_t[PROFILE_VALUES]){count, count * 1000});
}

static void check(struct builder *builder, const char *expected)
{
	_cleanup_(profile_unrefp) struct profile *profile = NULL;
	_cleanup_(buf_release) struct buf out = BUF_INIT;
	struct encode_options options = {0};

	ck_assert_int_eq(builder_seal(builder, &profile), 0);
	ck_assert_int_eq(encoder_folded.encode(profile, &options, &out), 0);
	ck_assert_str_eq(buf_text(&out), expected);
}

START_TEST(folds)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	struct mapping kernel = {.kind = MAPPING_KERNEL};
	uint32_t kernel_id = builder_mapping(builder, &kernel), main_node, a, b, leaf;
	struct function outer = {.name = builder_text(builder, "outer")};

	main_node = frame(builder, 0, 0, 1, "main");
	/* The same name at two addresses is one frame. */
	a = frame(builder, main_node, 0, 2, "work");
	b = frame(builder, main_node, 0, 3, "work");
	leaf = frame(builder, a, kernel_id, 4, "do_syscall_64");
	sample(builder, leaf, "zebra", 1, 5);
	sample(builder, a, "app", 1, 1);
	sample(builder, b, "app", 2, 2);
	/* Inlined: the innermost line is the leaf. */
	a = frame(builder, main_node, 0, 5, "inner");
	builder_line(builder, builder_view(builder)->nodes[a].location,
	             builder_function(builder, &outer), 0);
	sample(builder, a, "app", 1, 4);
	sample(builder, b, "app", 3, 0);
	check(builder, "app;main;outer;inner 4\n"
	               "app;main;work 3\n"
	               "zebra;main;work;do_syscall_64_[k] 5\n");
}
END_TEST

START_TEST(cleans_names)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	uint32_t node = frame(builder, 0, 0, 1, "a;b\nc\x7f d");

	node = builder_node(builder, node, builder_location(builder, 0, 2));
	sample(builder, frame(builder, node, 0, 3, "\xc3("), "x;\xff", 1, 1);
	sample(builder, 0, "", 1, 2);
	check(builder, "[unknown] 2\nx:\xef\xbf\xbd;a:b c  d;[unknown];\xef\xbf\xbd( 1\n");
}
END_TEST

START_TEST(weighs_by_bytes_where_there_are_some)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();

	builder_value_type(builder, "samples", "count");
	builder_value_type(builder, "resident", "bytes");
	sample(builder, frame(builder, 0, 0, 1, "main"), "app", 1, 3);
	check(builder, "app;main 3000\n");
}
END_TEST

START_TEST(weighs_by_what_is_shown)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();

	builder_value_type(builder, "waits", "count");
	builder_value_type(builder, "wait", "nanoseconds");
	sample(builder, frame(builder, 0, 0, 1, "main"), "app", 1, 3);
	check(builder, "app;main 3000\n");
}
END_TEST

START_TEST(weighs_by_what_is_said_to_be_shown)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();

	builder_value_type(builder, "alloc_space", "bytes");
	builder_value_type(builder, "inuse_space", "bytes");
	builder_show(builder, 0);
	sample(builder, frame(builder, 0, 0, 1, "main"), "app", 1, 3);
	check(builder, "app;main 3\n");
}
END_TEST

START_TEST(folds_nothing)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();

	check(builder, "");
}
END_TEST

Suite *folded_suite(void)
{
	Suite *suite = suite_create("folded");
	TCase *tests = tcase_create("folded");

	tcase_add_test(tests, folds);
	tcase_add_test(tests, cleans_names);
	tcase_add_test(tests, weighs_by_bytes_where_there_are_some);
	tcase_add_test(tests, weighs_by_what_is_shown);
	tcase_add_test(tests, weighs_by_what_is_said_to_be_shown);
	tcase_add_test(tests, folds_nothing);
	suite_add_tcase(suite, tests);
	return suite;
}
