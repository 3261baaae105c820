/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Harmless text is kept, and other text is made harmless.
 */
#include "base/clean.h"

#include "tests/unit/suites.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *text, *clean;
} texts[] = {
	{"", ""},
	{"plain <b>\"'\\;", "plain <b>\"'\\;"},
	{"a\nb\rc\td", "a?b?c?d"},
	{"\x1b[31mred\x1b]0;title\x07", "?[31mred?]0;title?"},
	{"\x7f", "?"},
	{"\xc2\x9b"
         "31m",
         "??31m"},
	{"\xc2\x80\xc2\x9f\xc2\xa0", "????\xc2\xa0"},
	{"\xe2\x82\xac", "\xe2\x82\xac"},
	{"\xff\xfe", "??"},
	{"\xc2", "?"},
	{"\xe2\x82", "??"},
	{"\xe2\x82\n", "???"},
	{"\xed\xa0\x80", "???"},
	/* The last bytes of a three-byte character are not a control character. */
	{"\xe3\x82\x9b", "\xe3\x82\x9b"},
	{"\xe3\xc2\x9b", "???"},
};

START_TEST(harmless)
{
	char text[64];

	strcpy(text, texts[_i].text);
	clean_text(text);
	ck_assert_str_eq(text, texts[_i].clean);
	ck_assert_uint_eq(clean_prefix(text, strlen(text)), strlen(text));
}
END_TEST

START_TEST(prefixes_end_where_it_is_not)
{
	/* Exactly this long, so that a read past the end is detected. */
	char *bytes = malloc(3);

	memcpy(bytes, "ab\xc2", 3);
	ck_assert_uint_eq(clean_prefix(bytes, 3), 2);
	ck_assert_uint_eq(clean_skip(bytes + 2, 1), 1);
	ck_assert(!clean_is_control(bytes + 2, 1));
	bytes[1] = '\0';
	ck_assert_uint_eq(clean_prefix(bytes, 3), 1);
	ck_assert(clean_is_control(bytes + 1, 2));
	free(bytes);
}
END_TEST

/* Any user can make a command line of such bytes. If the time grew with the square of their number,
 * this test would exceed its time limit. */
START_TEST(many_bytes_that_are_no_text)
{
	const size_t len = 1 << 20;
	char *text = malloc(len + 1);

	memset(text, 0xff, len);
	text[len] = '\0';
	clean_text(text);
	ck_assert_uint_eq(strspn(text, "?"), len);
	free(text);
}
END_TEST

Suite *clean_suite(void)
{
	Suite *suite = suite_create("clean");
	TCase *tests = tcase_create("clean");

	tcase_add_loop_test(tests, harmless, 0, sizeof(texts) / sizeof(texts[0]));
	tcase_add_test(tests, prefixes_end_where_it_is_not);
	tcase_add_test(tests, many_bytes_that_are_no_text);
	suite_add_tcase(suite, tests);
	return suite;
}
