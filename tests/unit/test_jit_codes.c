/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What programs tell of the code that they generate: lines of a map, names, and which code is at an
 * address.
 */
#include "tests/unit/suites.h"

#include "jit/jit_codes.h"
#include "jit/jit_name.h"
#include "jit/jit_runtime.h"
#include "jit/perf_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct jit_codes codes;
static struct jit_ranges gone; /* where code was replaced, all in all */

static void stop(void)
{
	jit_codes_release(&codes);
	jit_ranges_release(&gone);
}

/* Adds what one reading tells: "START END NAME" in each string. */
static void tell(uint32_t since, const char *const *lines, size_t count)
{
	struct jit_codes told = {0};

	for (size_t i = 0; i < count; i++) {
		unsigned int start, end;
		char name[16];

		ck_assert_int_eq(sscanf(lines[i], "%u %u %15s", &start, &end, name), 3);
		ck_assert_int_eq(
			jit_codes_append(&told, start, end - start, name, strlen(name), NULL), 0);
	}
	ck_assert_int_eq(jit_codes_sort(&told), 0);
	ck_assert_int_eq(jit_codes_lay(&codes, &told, since, &gone), 0);
	ck_assert_uint_eq(told.count, 0);
}

#define TELL(since, ...)                                              \
	do {                                                          \
		const char *const texts[] = {__VA_ARGS__};            \
		tell(since, texts, sizeof(texts) / sizeof(texts[0])); \
	} while (0)

/* All codes as "START-END NAME SINCE", with an exclamation mark if they have replaced others. */
static void expect(const char *expected)
{
	char text[512] = "";
	size_t len = 0;

	for (size_t i = 0; i < codes.count; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%u-%u %s %u%s",
		                        i ? ", " : "", (unsigned int)codes.at[i].start,
		                        (unsigned int)codes.at[i].end, codes.at[i].name,
		                        codes.at[i].since, codes.at[i].has_replaced ? "!" : "");
	ck_assert_str_eq(text, expected);
}

START_TEST(codes_are_sorted)
{
	TELL(1, "30 40 c", "10 20 a", "20 30 b");
	expect("10-20 a 1, 20-30 b 1, 30-40 c 1");
	TELL(2, "40 50 d", "5 6 _");
	expect("5-6 _ 2, 10-20 a 1, 20-30 b 1, 30-40 c 1, 40-50 d 2");
}
END_TEST

START_TEST(later_code_replaces_all_that_it_overlaps)
{
	TELL(1, "10 20 a", "20 30 b", "30 40 c");
	TELL(2, "15 25 x");
	expect("15-25 x 2!, 30-40 c 1");
	TELL(3, "0 100 y");
	expect("0-100 y 3!");
	TELL(4, "50 51 p", "52 53 q", "99 101 r");
	expect("50-51 p 4!, 52-53 q 4!, 99-101 r 4!");
}
END_TEST

START_TEST(of_one_reading_the_last_counts)
{
	TELL(1, "10 20 a", "10 20 b", "5 12 c", "30 40 d");
	expect("5-12 c 1!, 30-40 d 1");
}
END_TEST

START_TEST(what_is_told_again_stays)
{
	TELL(1, "10 20 a", "20 30 b");
	TELL(2, "20 30 b", "10 20 a", "30 40 c");
	expect("10-20 a 1, 20-30 b 1, 30-40 c 2");
	TELL(3, "10 20 other");
	expect("10-20 other 3!, 20-30 b 1, 30-40 c 2");
}
END_TEST

START_TEST(where_code_was_replaced)
{
	TELL(1, "10 20 a", "20 30 b", "40 50 c");
	ck_assert_uint_eq(gone.count, 0);
	TELL(2, "15 17 x", "40 50 c");
	ck_assert(jit_ranges_have(&gone, 10));
	ck_assert(jit_ranges_have(&gone, 19));
	ck_assert(!jit_ranges_have(&gone, 9));
	ck_assert(!jit_ranges_have(&gone, 20));
	ck_assert(!jit_ranges_have(&gone, 40));
	TELL(3, "20 21 y");
	ck_assert_uint_eq(gone.count, 1);
	ck_assert(jit_ranges_have(&gone, 29));
}
END_TEST

START_TEST(code_without_room_replaces_all_the_same)
{
	struct jit_codes told = {0};

	TELL(1, "10 20 a", "20 30 b");
	ck_assert_int_eq(jit_codes_append(&told, 15, 10, "x", 1, NULL), 0);
	ck_assert_int_eq(jit_codes_sort(&told), 0);
	jit_codes_forget(&told);
	ck_assert_int_eq(jit_codes_lay(&codes, &told, 2, &gone), 0);
	expect("");
	ck_assert(jit_ranges_have(&gone, 10));
	ck_assert(jit_ranges_have(&gone, 29));
}
END_TEST

START_TEST(code_that_is_told_again_gets_lines)
{
	struct jit_lines *lines = jit_lines_new(10);
	struct jit_codes told = {0};
	const char *file;

	TELL(1, "10 20 a");
	ck_assert_ptr_nonnull(lines);
	ck_assert_int_eq(jit_lines_add(lines, 12, 7, "f"), 0);
	ck_assert_int_eq(jit_codes_append(&told, 10, 10, "a", 1, lines), 0);
	ck_assert_int_eq(jit_codes_sort(&told), 0);
	ck_assert_int_eq(jit_codes_lay(&codes, &told, 2, &gone), 0);
	expect("10-20 a 1");
	ck_assert_uint_eq(jit_lines_find(codes.at[0].lines, 11, &file), 0);
	ck_assert_uint_eq(jit_lines_find(codes.at[0].lines, 19, &file), 7);
	ck_assert_str_eq(file, "f");
}
END_TEST

START_TEST(code_is_found_by_each_of_its_addresses)
{
	TELL(1, "10 20 a", "20 30 b", "40 50 c");
	ck_assert_ptr_null(jit_codes_find(&codes, 9));
	ck_assert_str_eq(jit_codes_find(&codes, 10)->name, "a");
	ck_assert_str_eq(jit_codes_find(&codes, 19)->name, "a");
	ck_assert_str_eq(jit_codes_find(&codes, 20)->name, "b");
	ck_assert_ptr_null(jit_codes_find(&codes, 30));
	ck_assert_ptr_null(jit_codes_find(&codes, 39));
	ck_assert_str_eq(jit_codes_find(&codes, 49)->name, "c");
	ck_assert_ptr_null(jit_codes_find(&codes, 50));
}
END_TEST

/* Random codes against a table of which name each address has. */
START_TEST(random_codes_agree_with_a_plain_table)
{
	enum { SIZE = 256, ROUNDS = 400, EACH = 8 };
	unsigned int owner[SIZE] = {0}, seed = 1, name = 0;

	for (unsigned int round = 1; round <= ROUNDS; round++) {
		struct jit_codes told = {0};

		for (unsigned int i = 0; i < EACH; i++) {
			unsigned int start = (unsigned int)rand_r(&seed) % (SIZE - 20);
			unsigned int end = start + 1 + (unsigned int)rand_r(&seed) % 19;
			char text[16];

			snprintf(text, sizeof(text), "%u", ++name);
			ck_assert_int_eq(jit_codes_append(&told, start, end - start, text,
			                                  strlen(text), NULL),
			                 0);
			for (unsigned int at = start; at < end; at++)
				for (unsigned int other = 0, dead = owner[at]; dead && other < SIZE;
				     other++)
					owner[other] = owner[other] == dead ? 0 : owner[other];
			for (unsigned int at = start; at < end; at++)
				owner[at] = name;
		}
		ck_assert_int_eq(jit_codes_sort(&told), 0);
		ck_assert_int_eq(jit_codes_lay(&codes, &told, round, &gone), 0);
		for (unsigned int at = 0; at < SIZE; at++) {
			const struct jit_code *code = jit_codes_find(&codes, at);

			ck_assert_uint_eq(code ? (unsigned int)atoi(code->name) : 0, owner[at]);
		}
	}
}
END_TEST

START_TEST(lines_of_a_map)
{
	static const char map[] = "10 20 a b\n0x30 0X4 c\r\n\nx\n10\n10 20\n10 20 \n0 0 none\n"
				  "  50   1   d\n60 1 cut";
	struct text rest = text_of(map, strlen(map));
	static const struct {
		uint64_t start, size;
		const char *name;
	} expected[] = {{0x10, 0x20, "a b"}, {0x30, 4, "c"}, {0, 0, "none"}, {0x50, 1, "d"}};
	struct perf_map_line line;

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		ck_assert(perf_map_next(&rest, &line));
		ck_assert_uint_eq(line.start, expected[i].start);
		ck_assert_uint_eq(line.size, expected[i].size);
		ck_assert(text_equals(line.name, expected[i].name));
	}
	ck_assert(!perf_map_next(&rest, &line));
	ck_assert(text_equals(rest, "60 1 cut"));
}
END_TEST

static const struct {
	const char *name, *function, *file;
	uint32_t line;
	bool is_trampoline;
} names[] = {
	{"plain", "plain", "", 0, false},
	{"JS:*fib /srv/a.js:3:14", "fib", "/srv/a.js", 3, false},
	{"JS:~fib file:///srv/a b.mjs:3:14", "fib", "/srv/a b.mjs", 3, false},
	{"LazyCompile:^get size node:internal/x:30:1", "get size", "node:internal/x", 30, false},
	{"Function: /srv/a.js:1:1", "(anonymous)", "/srv/a.js", 1, false},
	{"JS:+evaluated evalmachine.<anonymous>:2:3", "evaluated", "evalmachine.<anonymous>", 2,
         false},
	{"JS:*no_column /srv/a.js:3", "JS:*no_column /srv/a.js:3", "", 0, false},
	{"JS:*", "JS:*", "", 0, false},
	{"Builtin:Call_ReceiverIsAny", "Builtin:Call_ReceiverIsAny", "", 0, false},
	{"py::C.method:/srv/a.py", "C.method", "/srv/a.py", 0, true},
	{"py:::/srv/a.py", "py:::/srv/a.py", "", 0, false},
	{"py::", "py::", "", 0, false},
	{"void A::b(int) [Tier1]", "void A::b(int) [Tier1]", "", 0, false},
};

START_TEST(what_names_say)
{
	struct jit_name split = jit_name_split(text_of(names[_i].name, strlen(names[_i].name)));

	ck_assert(text_equals(split.function, names[_i].function));
	ck_assert(text_equals(split.file, names[_i].file));
	ck_assert_uint_eq(split.line, names[_i].line);
	ck_assert_int_eq(split.is_trampoline, names[_i].is_trampoline);
}
END_TEST

static const char *runtime_of(const char *const *paths)
{
	uint8_t runtime = 0;

	for (; *paths; paths++)
		runtime = jit_runtime_of(*paths, runtime);
	return jit_runtime_name(runtime) ?: "";
}

START_TEST(runtimes_are_told_by_their_files)
{
	ck_assert_str_eq(runtime_of((const char *[]){"/usr/bin/node", "/lib/libc.so.6", NULL}),
	                 "node");
	ck_assert_str_eq(runtime_of((const char *[]){"/usr/lib/jvm/lib/server/libjvm.so", NULL}),
	                 "java");
	ck_assert_str_eq(runtime_of((const char *[]){"/lib/libLLVM-14.so.1", "/usr/bin/julia",
	                                             "/lib/libjulia-internal.so.1.9", NULL}),
	                 "julia");
	ck_assert_str_eq(runtime_of((const char *[]){"/lib/libjulia-internal.so.1.9",
	                                             "/lib/libLLVM-14.so.1", NULL}),
	                 "julia");
	ck_assert_str_eq(runtime_of((const char *[]){"/srv/node/app", "/srv/nodes", "", "[stack]",
	                                             "/lib/libjvm.so.bak", NULL}),
	                 "");
}
END_TEST

Suite *jit_codes_suite(void)
{
	Suite *suite = suite_create("jit_codes");
	TCase *tcase = tcase_create("codes"), *told = tcase_create("told");

	tcase_add_checked_fixture(tcase, NULL, stop);
	tcase_add_test(tcase, codes_are_sorted);
	tcase_add_test(tcase, later_code_replaces_all_that_it_overlaps);
	tcase_add_test(tcase, of_one_reading_the_last_counts);
	tcase_add_test(tcase, what_is_told_again_stays);
	tcase_add_test(tcase, where_code_was_replaced);
	tcase_add_test(tcase, code_without_room_replaces_all_the_same);
	tcase_add_test(tcase, code_that_is_told_again_gets_lines);
	tcase_add_test(tcase, code_is_found_by_each_of_its_addresses);
	tcase_add_test(tcase, random_codes_agree_with_a_plain_table);
	tcase_add_test(tcase, runtimes_are_told_by_their_files);
	suite_add_tcase(suite, tcase);
	tcase_add_test(told, lines_of_a_map);
	tcase_add_loop_test(told, what_names_say, 0, sizeof(names) / sizeof(names[0]));
	suite_add_tcase(suite, told);
	return suite;
}
