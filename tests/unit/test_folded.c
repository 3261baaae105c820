/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Call paths in the folded format.
 */
#include "tests/unit/suites.h"

#include "encode/encoder.h"
#include "profile/builder.h"

#include <errno.h>
#include <string.h>

enum { LONG = 4096, DEPTH = 127 };

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

static void sample_of(struct builder *builder, uint32_t account, uint32_t node, const char *comm,
                      uint64_t count)
{
	struct task task = {
		.pid = 1, .tid = 1, .comm = builder_text(builder, comm), .account = account};

	builder_sample(builder, node, builder_task(builder, &task),
	               (uint64_t[PROFILE_VALUES]){count, count * 1000});
}

/* A path of `depth` frames, each with a name of LONG bytes. */
static uint32_t long_path(struct builder *builder, uint32_t depth)
{
	char name[LONG + 1] = {0};
	uint32_t node = 0;

	memset(name, 'x', LONG);
	for (uint32_t i = 0; i < depth; i++) {
		memcpy(name, (char[]){(char)('a' + i % 26), (char)('a' + i / 26)}, 2);
		node = frame(builder, node, 0, 1000 + i, name);
	}
	return node;
}

static int encode_within(struct builder *builder, size_t max, struct buf *ret_out)
{
	_cleanup_(profile_unrefp) struct profile *profile = NULL;
	struct encode_options options = {0};

	*ret_out = (struct buf){.max = max};
	ck_assert_int_eq(builder_seal(builder, &profile), 0);
	return encoder_folded.encode(profile, &options, ret_out);
}

static void check_within(struct builder *builder, size_t max, const char *expected)
{
	_cleanup_(buf_release) struct buf out = BUF_INIT;

	ck_assert_int_eq(encode_within(builder, max, &out), 0);
	ck_assert_str_eq(buf_text(&out), expected);
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
	/* Two addresses with the same name are one frame. */
	a = frame(builder, main_node, 0, 2, "work");
	b = frame(builder, main_node, 0, 3, "work");
	leaf = frame(builder, a, kernel_id, 4, "do_syscall_64");
	sample(builder, leaf, "zebra", 1, 5);
	sample(builder, a, "app", 1, 1);
	sample(builder, b, "app", 2, 2);
	/* With inlined functions the innermost line is the leaf. */
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

START_TEST(who_has_too_long_paths_gives_way)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	uint32_t path = long_path(builder, DEPTH), main_node = frame(builder, 0, 0, 1, "main"),
		 leaf = frame(builder, main_node, 0, 2, "work");

	/* The paths that end at each of its frames: 33 MB together. */
	for (uint32_t node = path; node; node = builder_view(builder)->nodes[node].parent) {
		sample_of(builder, 9, node, "evil", 2);
		sample_of(builder, 9, node, "ev;l", 1);
	}
	sample_of(builder, 9, main_node, "app", 4);
	sample_of(builder, 0, leaf, "app", 3);
	sample_of(builder, 7, main_node, "app", 5);
	check_within(builder, 1 << 20,
	             "app;[too long for this answer] 4\n"
	             "app;main 5\n"
	             "app;main;work 3\n"
	             "ev:l;[too long for this answer] 127\n"
	             "evil;[too long for this answer] 254\n");
}
END_TEST

/* Three accounts: one with a path of three names, one of two names, one of one. */
static void build_three(struct builder *builder)
{
	sample_of(builder, 3, long_path(builder, 3), "three", 3);
	sample_of(builder, 1, long_path(builder, 1), "one", 1);
	sample_of(builder, 2, long_path(builder, 2), "two", 2);
	/* All threads of a program have one line. */
	for (uint32_t tid = 2; tid < 20; tid++) {
		struct task task = {.tid = tid, .comm = builder_text(builder, "one"), .account = 1};

		builder_sample(builder, long_path(builder, 1), builder_task(builder, &task),
		               (uint64_t[PROFILE_VALUES]){1});
	}
	sample_of(builder, 1, long_path(builder, 9), "one", 0);
}

START_TEST(the_longest_give_way_first)
{
	static const struct {
		size_t max, lines, shortened;
	} cases[] = {
		{0, 3, 0},        {6 * LONG + 100, 3, 0}, {6 * LONG, 3, 1}, {3 * LONG + 300, 3, 1},
		{3 * LONG, 3, 2}, {1 * LONG + 300, 3, 2},
	};
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	_cleanup_(buf_release) struct buf out = BUF_INIT;
	size_t lines = 0, shortened = 0;
	const char *text;

	build_three(builder);
	ck_assert_int_eq(encode_within(builder, cases[_i].max, &out), 0);
	text = buf_text(&out);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	for (const char *at = text; (at = strstr(at, "[too long")); at++)
		shortened++;
	ck_assert_uint_eq(lines, cases[_i].lines);
	ck_assert_uint_eq(shortened, cases[_i].shortened);
	ck_assert_ptr_nonnull(strstr(text, " 19\n"));
	ck_assert_uint_eq(strstr(text, "three;[too long for this answer] 3\n") != NULL,
	                  cases[_i].shortened > 0);
	ck_assert_uint_eq(strstr(text, "two;[too long for this answer] 2\n") != NULL,
	                  cases[_i].shortened > 1);
}
END_TEST

/* An account that is alone in the answer is not shortened; the client can ask for less. */
START_TEST(who_is_alone_is_refused)
{
	_cleanup_(builder_freep) struct builder *alone = builder_new(), *three = builder_new();
	_cleanup_(buf_release) struct buf out = BUF_INIT, other = BUF_INIT;

	sample_of(alone, 3, long_path(alone, 3), "three", 3);
	ck_assert_int_eq(encode_within(alone, LONG, &out), -EFBIG);
	build_three(three);
	ck_assert_int_eq(encode_within(three, LONG, &other), -EFBIG);
	ck_assert_uint_eq(out.len + other.len, 0);
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
	tcase_add_test(tests, who_has_too_long_paths_gives_way);
	tcase_add_loop_test(tests, the_longest_give_way_first, 0, 6);
	tcase_add_test(tests, who_is_alone_is_refused);
	suite_add_tcase(suite, tests);
	return suite;
}
