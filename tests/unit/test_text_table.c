/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The table of functions, and of the other groups that its rows can be.
 */
#include "tests/unit/suites.h"

#include "base/clean.h"
#include "encode/encoder.h"
#include "profile/builder.h"

#include <errno.h>
#include <stdio.h>
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
	builder_ticks(builder, &(struct ticks){100, 80, 10, 3});
	builder_comment(builder, "kernel: 6.1");
	leaf = frame(builder, frame(builder, frame(builder, node, 2, "fib"), 3, "fib"), 2, "fib");
	sample(builder, leaf, 6, 1500000000);
	sample(builder, node, 4, 500000000);
}

#define HEADER                                                                \
	"Type: cpu\n"                                                         \
	"Time: 1970-01-01T00:00:01Z\n"                                        \
	"Duration: 10.00s, Total = 2.00s (20.00%)\n"                          \
	"Samples: 10; of 100 ticks 80 were idle and 10 lost; 3 were missed\n" \
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

START_TEST(shows_what_is_said_to_be_shown)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();

	builder_value_type(builder, "copies", "count");
	builder_value_type(builder, "copied", "bytes");
	builder_show(builder, 0);
	builder_time(builder, 1, 1000000000, 10000000000);
	builder_ticks(builder, &(struct ticks){7, 0, 2, 0});
	sample(builder, frame(builder, 0, 1, "main"), 5, 4096);
	check(builder, SORT_FLAT, 0,
	      "Type: copies\n"
	      "Time: 1970-01-01T00:00:01Z\n"
	      "Duration: 10.00s, Total = 5\n"
	      "Copies: 5; 2 were lost\n" COLUMNS
	      "         5 100.00% 100.00%          5 100.00%  main\n");
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
	      "Objects: 4; 0 were lost\n" COLUMNS
	      "         3  75.00%  75.00%          3  75.00%  a \xef\xbf\xbd\n"
	      "         1  25.00% 100.00%          4 100.00%  [unknown]\n");
}
END_TEST

/* Values that programs have chosen: what is largest is shown as such. */
START_TEST(sums_do_not_wrap)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();

	builder_value_type(builder, "objects", "count");
	sample(builder, frame(builder, 0, 1, "most"), UINT64_MAX, 0);
	sample(builder, frame(builder, 0, 2, "half"), UINT64_MAX / 2 + 1, 0);
	check(builder, SORT_FLAT, 0,
	      "Type: objects\nTime: 1970-01-01T00:00:00Z\n"
	      "Duration: 0, Total = 18446744073709551615\n"
	      "Objects: 18446744073709551615; 0 were lost\n" COLUMNS
	      "18446744073709551615 100.00% 100.00% 18446744073709551615 100.00%  most\n"
	      "9223372036854775808  50.00% 100.00% 9223372036854775808  50.00%  half\n");
}
END_TEST

START_TEST(shows_bytes)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();

	builder_value_type(builder, "samples", "count");
	builder_value_type(builder, "resident", "bytes");
	builder_ticks(builder, &(struct ticks){.total = 10, .lost = 2});
	sample(builder, frame(builder, 0, 1, "maps"), 4, 3ULL << 30);
	sample(builder, frame(builder, 0, 2, "grows"), 2, 3 << 19);
	sample(builder, frame(builder, 0, 3, "touches"), 1, 4096);
	sample(builder, frame(builder, 0, 4, "rests"), 1, 1023);
	check(builder, SORT_FLAT, 0,
	      "Type: resident\nTime: 1970-01-01T00:00:00Z\nDuration: 0, Total = 3.00GiB\n"
	      "Samples: 8; 2 were lost\n" COLUMNS
	      "   3.00GiB  99.95%  99.95%    3.00GiB  99.95%  maps\n"
	      "   1.50MiB   0.05% 100.00%    1.50MiB   0.05%  grows\n"
	      "   4.00KiB   0.00% 100.00%    4.00KiB   0.00%  touches\n"
	      "     1023B   0.00% 100.00%      1023B   0.00%  rests\n");
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

static uint32_t line(struct builder *builder, uint32_t location, const char *name, const char *file,
                     uint32_t number)
{
	struct function function = {.name = builder_text(builder, name),
	                            .filename = builder_text(builder, file)};

	builder_line(builder, location, builder_function(builder, &function), number);
	return location;
}

/*
 * main (a.c:5) calls work (a.c:20, two addresses of the line), into which inner (b.h:7) is inlined.
 * That calls work again. memcpy has no line, and one address has no name.
 */
static void build_lines(struct builder *builder)
{
	struct mapping file = {.path = builder_text(builder, "/bin/a")};
	struct mapping libc = {.path = builder_text(builder, "/lib/libc.so.6")};
	struct mapping kernel = {.path = builder_text(builder, "[kernel]"), .kind = MAPPING_KERNEL};
	uint32_t a = builder_mapping(builder, &file), c = builder_mapping(builder, &libc);
	uint32_t k = builder_mapping(builder, &kernel), at, node;
	struct task task = {.pid = 1,
	                    .tid = 1,
	                    .comm = builder_text(builder, "a"),
	                    .thread = builder_text(builder, "a")};

	builder_value_type(builder, "samples", "count");
	node = builder_node(builder, 0,
	                    line(builder, builder_location(builder, a, 1), "main", "a.c", 5));
	at = line(builder, builder_location(builder, a, 2), "inner", "b.h", 7);
	node = builder_node(builder, node, line(builder, at, "work", "a.c", 20));
	at = line(builder, builder_location(builder, a, 3), "work", "a.c", 20);
	node = builder_node(builder, node, at);
	builder_sample(builder, node, builder_task(builder, &task), (uint64_t[PROFILE_VALUES]){4});
	at = line(builder, builder_location(builder, c, 1), "memcpy", "", 0);
	task.tid = 2;
	task.thread = builder_text(builder, "helper");
	builder_sample(builder, builder_node(builder, node, at), builder_task(builder, &task),
	               (uint64_t[PROFILE_VALUES]){2});
	task = (struct task){.pid = 2};
	node = builder_node(builder, 0, builder_location(builder, k, 1));
	builder_sample(builder, node, builder_task(builder, &task), (uint64_t[PROFILE_VALUES]){1});
	node = builder_node(builder, 0, builder_location(builder, 0, 1));
	builder_sample(builder, node, builder_task(builder, &task), (uint64_t[PROFILE_VALUES]){1});
}

static const char *source(void *ctx, const char *file, uint32_t number)
{
	int *asked = ctx;

	*asked += 1;
	if (number == 5)
		return "";
	if (number == 7)
		return "\t\t  x\xff(y);  \t";
	ck_assert_str_eq(file, "a.c");
	/* 99 bytes of one column each, then one character of three bytes; the rest is beyond the
	 * limit. */
	return "123456789 123456789 123456789 123456789 123456789 "
	       "123456789 123456789 123456789 123456789 123456789\xe2\x82\xac"
	       "cut";
}

static const struct {
	enum grouping by;
	struct {
		int flat, cum;
		const char *name;
	} rows[6]; /* sorted by cum */
} tables[] = {
	{BY_function,
         {{4, 6, "work"}, {0, 6, "inner"}, {0, 6, "main"}, {2, 2, "[unknown]"}, {2, 2, "memcpy"}}},
	{BY_line,
         {{4, 6,
           "work a.c:20  123456789 123456789 123456789 123456789 123456789 "
           "123456789 123456789 123456789 123456789 123456789\xe2\x82\xac"},
          {0, 6, "inner b.h:7  x\xef\xbf\xbd(y);"},
          {0, 6, "main a.c:5"},
          {2, 2, "[unknown]"},
          {2, 2, "memcpy"}}},
	{BY_file,
         {{4, 6, "a.c"},
          {0, 6, "b.h"},
          {2, 2, "[/lib/libc.so.6]"},
          {1, 1, "[kernel]"},
          {1, 1, "[unknown]"}}},
	{BY_binary,
         {{4, 6, "/bin/a"}, {2, 2, "/lib/libc.so.6"}, {1, 1, "[kernel]"}, {1, 1, "[unknown]"}}},
	{BY_process, {{6, 6, "a (1)"}, {2, 2, "[unknown] (2)"}}},
	{BY_thread, {{4, 4, "a/a (1)"}, {2, 2, "[unknown]/[unknown] (0)"}, {2, 2, "a/helper (2)"}}},
};

START_TEST(groups)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	_cleanup_(profile_unrefp) struct profile *profile = NULL;
	_cleanup_(buf_release) struct buf out = BUF_INIT;
	int asked = 0;
	struct encode_options options = {
		.sort = SORT_CUM, .by = tables[_i].by, .source_line = source, .source_ctx = &asked};
	const char *at;

	build_lines(builder);
	ck_assert_int_eq(builder_seal(builder, &profile), 0);
	ck_assert_int_eq(encoder_text.encode(profile, &options, &out), 0);
	at = strstr(buf_text(&out), COLUMNS);
	ck_assert_ptr_nonnull(at);
	ck_assert_ptr_nonnull(strstr(buf_text(&out), "Total = 8\n"));
	at += strlen(COLUMNS);
	for (size_t i = 0; i < 6 && tables[_i].rows[i].name; i++) {
		const char *name = tables[_i].rows[i].name, *end = strchr(at, '\n');
		int flat = 0, cum = 0;

		ck_assert_msg(end != NULL, "no row %zu", i);
		ck_assert_int_eq(sscanf(at, "%d %*f%% %*f%% %d", &flat, &cum), 2);
		ck_assert_msg((size_t)(end - at) == 47 + strlen(name) &&
		                      strncmp(at + 47, name, strlen(name)) == 0,
		              "not %s: %.*s", name, (int)(end - at), at);
		ck_assert_int_eq(flat, tables[_i].rows[i].flat);
		ck_assert_int_eq(cum, tables[_i].rows[i].cum);
		at = end + 1;
	}
	ck_assert_str_eq(at, "");
	ck_assert_int_eq(asked, tables[_i].by == BY_line ? 3 : 0);
}
END_TEST

START_TEST(says_what_it_cut)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	_cleanup_(profile_unrefp) struct profile *profile = NULL;
	_cleanup_(buf_release) struct buf out = BUF_INIT;
	struct encode_options options = {.rows = 1, .by = BY_binary};

	build_lines(builder);
	ck_assert_int_eq(builder_seal(builder, &profile), 0);
	ck_assert_int_eq(encoder_text.encode(profile, &options, &out), 0);
	ck_assert_ptr_nonnull(strstr(buf_text(&out), "Showing top 1 binaries out of 4\n"));
	ck_assert_ptr_null(strstr(buf_text(&out), "libc"));
}
END_TEST

/* Encodes 200 functions, all but the first with names of 4096 bytes, into at most `max` bytes (0:
 * no limit). */
static int encode_long(size_t max, struct buf *ret_out)
{
	enum { LONG = 4096, ROWS = 200 };
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	_cleanup_(profile_unrefp) struct profile *profile = NULL;
	struct encode_options options = {0};

	for (uint32_t i = 0; i < ROWS; i++) {
		struct function function = {0};
		uint32_t location = builder_location(builder, 0, i + 1);
		char name[LONG + 1] = {0};

		snprintf(name, sizeof(name), "f%u", i);
		/* A letter of two bytes. */
		for (size_t at = strlen(name); i && at + 2 <= LONG; at += 2)
			memcpy(name + at, "\xc3\xa9", 2);
		function.name = builder_text(builder, name);
		builder_line(builder, location, builder_function(builder, &function), 0);
		builder_sample(builder, builder_node(builder, 0, location), 0,
		               (uint64_t[PROFILE_VALUES]){1, 1});
	}
	ck_assert_int_eq(builder_seal(builder, &profile), 0);
	*ret_out = (struct buf){.max = max};
	return encoder_text.encode(profile, &options, ret_out);
}

START_TEST(long_names_are_cut_where_they_do_not_fit)
{
	_cleanup_(buf_release) struct buf whole = BUF_INIT, cut = BUF_INIT, none = BUF_INIT;
	size_t rows = 0;

	ck_assert_int_eq(encode_long(0, &whole), 0);
	ck_assert_ptr_null(strstr(buf_text(&whole), "[...]"));
	ck_assert_int_eq(encode_long(100 << 10, &cut), 0);
	for (const char *at = buf_text(&cut); (at = strstr(at, " [...]\n")); at++)
		rows++;
	ck_assert_uint_eq(rows, 199);
	ck_assert_ptr_nonnull(strstr(buf_text(&cut), "  f0\n"));
	ck_assert_ptr_nonnull(strstr(buf_text(&cut), "  f199"));
	for (const char *line = buf_text(&cut); *line; line = strchr(line, '\n') + 1)
		ck_assert_uint_eq(clean_prefix(line, strcspn(line, "\n")), strcspn(line, "\n"));
	ck_assert_int_eq(encode_long(20 << 10, &none), -EFBIG);
}
END_TEST

static void sample_of(struct builder *builder, const char *state, const char *wait, const char *gil,
                      uint64_t value)
{
	struct task task = {
		.pid = 1,
		.state = builder_text(builder, state),
		.wait = builder_text(builder, wait),
		.gil = builder_text(builder, gil),
	};

	builder_sample(builder, frame(builder, 0, 1, "main"), builder_task(builder, &task),
	               (uint64_t[PROFILE_VALUES]){1, value});
}

START_TEST(what_threads_did)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();

	builder_value_type(builder, "events", "count");
	builder_value_type(builder, "wall", "nanoseconds");
	builder_time(builder, 1, 1000000000, 1000);
	sample_of(builder, "sleep", "poll", "", 100);
	sample_of(builder, "sleep", "futex", "waiting", 400);
	sample_of(builder, "running", "", "held", 250);
	sample_of(builder, "runnable", "", "held", 50);
	sample_of(builder, "running", "", "", 200);
	check(builder, SORT_FLAT, 0,
	      "Type: wall\nTime: 1970-01-01T00:00:01Z\n"
	      "Duration: 1.00us, Total = 1.00us (100.00%)\n"
	      "Events: 5; 0 were lost\n"
	      "States: sleep 50.0 % (futex 40.0 %, poll 10.0 %), running 45.0 %, runnable 5.0 %\n"
	      "GIL: waiting 57.1 %, held 42.9 %\n" COLUMNS
	      "    1.00us 100.00% 100.00%     1.00us 100.00%  main\n");
}
END_TEST

Suite *text_table_suite(void)
{
	Suite *suite = suite_create("text_table");
	TCase *tests = tcase_create("text_table");

	tcase_add_test(tests, sorts_by_flat);
	tcase_add_test(tests, shows_what_is_said_to_be_shown);
	tcase_add_test(tests, sorts_by_cum_and_cuts);
	tcase_add_test(tests, other_units_and_odd_names);
	tcase_add_test(tests, sums_do_not_wrap);
	tcase_add_test(tests, shows_bytes);
	tcase_add_test(tests, empty_table);
	tcase_add_loop_test(tests, groups, 0, sizeof(tables) / sizeof(tables[0]));
	tcase_add_test(tests, says_what_it_cut);
	tcase_add_test(tests, what_threads_did);
	tcase_add_test(tests, long_names_are_cut_where_they_do_not_fit);
	suite_add_tcase(suite, tests);
	return suite;
}
