/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The strict parsers: what each accepts, and the longer list of what it refuses.
 */
#include "base/text.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <string.h>

#define SEC 1000000000ULL

enum { UNCHANGED = 0xdead };

struct number_case {
	const char *text;
	int err;
	uint64_t value;
};

static void check_numbers(const struct number_case *cases, size_t count,
                          int (*parse)(const char *, uint64_t *))
{
	for (size_t i = 0; i < count; i++) {
		uint64_t value = UNCHANGED;
		int err = parse(cases[i].text, &value);
		ck_assert_msg(err == cases[i].err, "'%s': %d", cases[i].text, err);
		ck_assert_msg(value == (err ? UNCHANGED : cases[i].value), "'%s': %lu",
		              cases[i].text, value);
	}
}

#define CHECK(cases, parse) check_numbers(cases, sizeof(cases) / sizeof((cases)[0]), parse)

static int parse_port(const char *text, uint64_t *ret_value)
{
	return text_parse_u64(text, 1, 65535, ret_value);
}

START_TEST(numbers)
{
	static const struct number_case cases[] = {
		{"1", 0, 1},
		{"65535", 0, 65535},
		{"007", 0, 7},
		{"0", -ERANGE, 0},
		{"65536", -ERANGE, 0},
		{"18446744073709551616", -ERANGE, 0},
		{"99999999999999999999x", -EINVAL, 0},
		{"", -EINVAL, 0},
		{" 1", -EINVAL, 0},
		{"1 ", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{"+1", -EINVAL, 0},
		{"0x10", -EINVAL, 0},
		{"1e3", -EINVAL, 0},
	};

	CHECK(cases, parse_port);
}
END_TEST

START_TEST(durations)
{
	static const struct number_case cases[] = {
		{"90", 0, 90 * SEC},
		{"90s", 0, 90 * SEC},
		{"5m", 0, 300 * SEC},
		{"1h30m", 0, 5400 * SEC},
		{"500ms", 0, SEC / 2},
		{"1s500ms", 0, 3 * SEC / 2},
		{"0", 0, 0},
		{"10us", 0, 10000},
		{"7ns", 0, 7},
		{"1d", 0, 86400 * SEC},
		{"365d", 0, 365 * 86400 * SEC},
		{"367d", -ERANGE, 0},
		{"99999999999", -ERANGE, 0},
		{"99999999999999999999s", -ERANGE, 0},
		{"18446744073709551615h", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"s", -EINVAL, 0},
		{"-5s", -EINVAL, 0},
		{"1h30", -EINVAL, 0},
		{"30m1h", -EINVAL, 0},
		{"1m1m", -EINVAL, 0},
		{"1.5s", -EINVAL, 0},
		{"5 s", -EINVAL, 0},
		{"5S", -EINVAL, 0},
		{"5s ", -EINVAL, 0},
		{"5sm", -EINVAL, 0},
	};

	CHECK(cases, text_parse_duration);
}
END_TEST

START_TEST(sizes)
{
	static const struct number_case cases[] = {
		{"64MiB", 0, 64 << 20},
		{"512KiB", 0, 512 << 10},
		{"1GiB", 0, 1 << 30},
		{"1048576", 0, 1 << 20},
		{"5B", 0, 5},
		{"0", 0, 0},
		{"", -EINVAL, 0},
		{"MiB", -EINVAL, 0},
		{"64MB", -EINVAL, 0},
		{"64M", -EINVAL, 0},
		{"1MiB2", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{"18446744073709551615GiB", -ERANGE, 0},
	};

	CHECK(cases, text_parse_size);
}
END_TEST

START_TEST(times)
{
	static const struct number_case cases[] = {
		{"0", 0, 0},
		{"1700000000", 0, 1700000000 * SEC},
		{"1700000000.5", 0, 1700000000 * SEC + SEC / 2},
		{"1.0000000019", 0, SEC + 1},
		{"1970-01-01T00:00:00Z", 0, 0},
		{"2026-11-21T12:00:00Z", 0, 1795262400 * SEC},
		{"2026-11-21T13:00:00+01:00", 0, 1795262400 * SEC},
		{"2026-11-21t07:30:00.25-04:30", 0, 1795262400 * SEC + SEC / 4},
		{"2024-02-29T00:00:00Z", 0, 1709164800 * SEC},
		{"2023-02-29T00:00:00Z", -EINVAL, 0},
		{"2026-04-31T00:00:00Z", -EINVAL, 0},
		{"2026-13-01T00:00:00Z", -EINVAL, 0},
		{"2026-00-01T00:00:00Z", -EINVAL, 0},
		{"2026-11-21T24:00:00Z", -EINVAL, 0},
		{"2026-11-21T12:00:00", -EINVAL, 0},
		{"2026-11-21 12:00:00Z", -EINVAL, 0},
		{"2026-11-21T12:00:00Zx", -EINVAL, 0},
		{"2026-11-21T12:00:00.Z", -EINVAL, 0},
		{"2026-11-21", -EINVAL, 0},
		{"1969-12-31T23:59:59Z", -EINVAL, 0},
		{"1970-01-01T00:00:00+01:00", -ERANGE, 0},
		{"9999-12-31T23:59:59Z", -ERANGE, 0},
		{"99999999999999999999", -ERANGE, 0},
		{"18446744074", -ERANGE, 0},
		{"", -EINVAL, 0},
		{".5", -EINVAL, 0},
		{"5.", -EINVAL, 0},
		{"1.2.3", -EINVAL, 0},
		{"-5", -EINVAL, 0},
		{"now", -EINVAL, 0},
	};

	CHECK(cases, text_parse_time);
}
END_TEST

START_TEST(lines_and_words)
{
	static const char bytes[] = "one two\n\n\tthree  ";
	struct text text = text_of(bytes, strlen(bytes)), line, word;

	ck_assert(text_line(&text, &line));
	ck_assert(text_word(&line, &word) && text_equals(word, "one"));
	ck_assert(!text_equals(word, "on") && !text_equals(word, "ones"));
	ck_assert(text_word(&line, &word) && text_equals(word, "two"));
	ck_assert(!text_word(&line, &word));
	ck_assert(text_line(&text, &line) && text_equals(line, ""));
	ck_assert(text_line(&text, &line));
	ck_assert(text_word(&line, &word) && text_equals(word, "three"));
	ck_assert(!text_word(&line, &word));
	ck_assert(!text_line(&text, &line));
}
END_TEST

START_TEST(cursor_numbers)
{
	static const char bytes[] = "fFf-12:zz11112222333344445";
	struct text text = text_of(bytes, strlen(bytes));
	uint64_t value;

	ck_assert(text_hex(&text, &value) && value == 0xfff);
	ck_assert(!text_char(&text, ':') && text_char(&text, '-'));
	ck_assert(text_decimal(&text, &value) && value == 12);
	ck_assert(text_char(&text, ':') && !text_hex(&text, &value));
	ck_assert(text_char(&text, 'z') && text_char(&text, 'z'));
	const char *before = text.at;
	ck_assert(!text_hex(&text, &value)); /* 17 digits */
	ck_assert_ptr_eq(text.at, before);
	ck_assert_uint_eq(value, 12);
	text.at = text.end;
	ck_assert(!text_char(&text, '5') && !text_decimal(&text, &value));
}
END_TEST

START_TEST(utf8)
{
	static const struct {
		const char *bytes;
		size_t len, valid;
	} cases[] = {
		{"", 0, 0},
		{"plain", 5, 5},
		{"gr\xc3\xbc\xc3\x9f", 6, 6},
		{"\xe2\x82\xac\xf0\x9f\x98\x80", 7, 7},
		{"a\xc3", 2, 1},
		{"a\xe2\x82", 3, 1},
		{"\xc0\x80", 2, 0},
		{"\xe0\x80\x80", 3, 0},
		{"\xed\xa0\x80", 3, 0},
		{"\xf0\x80\x80\x80", 4, 0},
		{"\xf4\x90\x80\x80", 4, 0},
		{"\xf5\x80\x80\x80", 4, 0},
		{"ab\x80", 3, 2},
		{"ab\xff", 3, 2},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_uint_eq(text_utf8_prefix(cases[i].bytes, cases[i].len), cases[i].valid);
}
END_TEST

START_TEST(ends_and_patterns)
{
	ck_assert(text_has_end("/usr/a.py", "/a.py"));
	ck_assert(text_has_end("/a.py", "/a.py"));
	ck_assert(!text_has_end("a.py", "/a.py"));
	ck_assert(text_has_end("", ""));
	ck_assert(text_matches("node", "node"));
	ck_assert(!text_matches("nodes", "node"));
	ck_assert(!text_matches("nod", "node"));
	ck_assert(text_matches("libnode.so.1", "libnode.so*"));
	ck_assert(text_matches("libnode.so", "libnode.so*"));
	ck_assert(!text_matches("libnode.s", "libnode.so*"));
	ck_assert(text_matches("", "*"));
}
END_TEST

Suite *text_suite(void)
{
	Suite *suite = suite_create("text");
	TCase *tcase = tcase_create("text");

	tcase_add_test(tcase, ends_and_patterns);
	tcase_add_test(tcase, numbers);
	tcase_add_test(tcase, durations);
	tcase_add_test(tcase, sizes);
	tcase_add_test(tcase, times);
	tcase_add_test(tcase, lines_and_words);
	tcase_add_test(tcase, cursor_numbers);
	tcase_add_test(tcase, utf8);
	suite_add_tcase(suite, tcase);
	return suite;
}
