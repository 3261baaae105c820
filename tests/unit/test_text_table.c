/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The table of functions.
 */
#include "tests/unit/suites.h"

#include "encode/encoder.h"
#include "profile/builder.h"

#include <string.h>

static uint32_t frame(struct builder *builder, uint32_t parent, uint64_t address, const char *name)
{
	uint32_t location = builder_location(builder, 0, address);
	struct function function = {.name = builder_text(builder, name)};

	if (!builder_view(builder)->locations[location].line_count)
		builder_line(builder, location, builder_function(builder, &function), 0);
	return builder_node(builder, parent, location);
}

static void sample(struct builder *builder, uint32_t node, uint64_t count, uint64_t value)
{
	struct task task = {.pid = 1};

	builder_sample(builder, node, builder_task(builder, &task),
	               (uint64_t[PROFILE_VALUES]){count, value});
}

static void check(struct builder *builder, enum sort_order sort, uint32_t rows,
                  const char *expected)
{
	_cleanup_(profile_unrefp) struct profile *profile = NULL;
	_cleanup_(buf_release) struct buf out = BUF_INIT;
	struct encode_options options = {.sort = sort, .rows = rows};

	ck_assert_int_eq(builder_seal(builder, &profile), 0);
	ck_assert_int_eq(encoder_text.encode(profile, &options, &out), 0);
	ck_assert_str_eq(buf_text(&out), expected);
}

/* main calls fib, which calls itself twice; main has some time of its own. */
static void build(struct builder *builder)
{
	uint32_t node = frame(builder, 0, 1, "main"), leaf;

	builder_value_type(builder, "samples", "count");
	builder_value_type(builder, "cpu", "nanoseconds");
	builder_time(builder, 1, 1000000000, 10000000000);
	builder_ticks(builder, &(struct ticks){100, 80, 10});
	builder_comment(builder, "kernel: 6.1");
	leaf = frame(builder, frame(builder, frame(builder, node, 2, "fib"), 3, "fib"), 2, "fib");
	sample(builder, leaf, 6, 1500000000);
	sample(builder, node, 4, 500000000);
}

#define HEADER                                                 \
	"Type: cpu\n"                                          \
	"Time: 1970-01-01T00:00:01Z\n"                         \
	"Duration: 10.00s, Total = 2.00s (20.00%)\n"           \
	"Samples: 10; of 100 ticks 80 were idle and 10 lost\n" \
	"Comment: kernel: 6.1\n"
#define COLUMNS "      flat   flat%    sum%        cum    cum%  name\n"
#define FIB     "     1.50s  75.00% "
#define MAIN    "  500.00ms  25.00% "

START_TEST(sorts_by_flat)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();

	build(builder);
	check(builder, SORT_FLAT, 0,
	      HEADER COLUMNS FIB " 75.00%      1.50s  75.00%  fib\n" MAIN
	                         "100.00%      2.00s 100.00%  main\n");
}
END_TEST

START_TEST(sorts_by_cum_and_cuts)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();

	build(builder);
	check(builder, SORT_CUM, 1,
	      HEADER "Showing top 1 functions out of 2\n" COLUMNS MAIN
	             " 25.00%      2.00s 100.00%  main\n");
}
END_TEST

START_TEST(other_units_and_odd_names)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	uint32_t node = builder_node(builder, 0, builder_location(builder, 0, 9));

	builder_value_type(builder, "objects", "count");
	sample(builder, frame(builder, node, 1, "a\n\xff"), 3, 0);
	sample(builder, node, 1, 0);
	check(builder, SORT_FLAT, 10,
	      "Type: objects\nTime: 1970-01-01T00:00:00Z\nDuration: 0, Total = 4\n"
	      "Samples: 4; of 0 ticks 0 were idle and 0 lost\n" COLUMNS
	      "         3  75.00%  75.00%          3  75.00%  a \xef\xbf\xbd\n"
	      "         1  25.00% 100.00%          4 100.00%  [unknown]\n");
}
END_TEST

START_TEST(empty_table)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();

	check(builder, SORT_FLAT, 0,
	      "Type: \nTime: 1970-01-01T00:00:00Z\nDuration: 0, Total = 0\n"
	      "Samples: 0; of 0 ticks 0 were idle and 0 lost\n" COLUMNS);
}
END_TEST

Suite *text_table_suite(void)
{
	Suite *suite = suite_create("text_table");
	TCase *tests = tcase_create("text_table");

	tcase_add_test(tests, sorts_by_flat);
	tcase_add_test(tests, sorts_by_cum_and_cuts);
	tcase_add_test(tests, other_units_and_odd_names);
	tcase_add_test(tests, empty_table);
	suite_add_tcase(suite, tests);
	return suite;
}
