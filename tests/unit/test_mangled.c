/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Requests to demangle names, the answers of the reader process's side, and which names are worth
 * asking about.
 */
#include "names/mangled.h"

#include "base/bounds.h"
#include "demangle/answer.h"
#include "reader/jobs.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

START_TEST(counts)
{
	static const struct {
		const char *bytes;
		size_t len, count; /* 0: the bytes are no list of names */
	} cases[] = {
		{"", 0, 0},    {"a", 1, 0},      {"a\0b", 3, 0},   {"\0", 1, 1},
		{"a\0", 2, 1}, {"\0\0\0", 3, 3}, {"a\0b\0", 4, 2}, {"a\0\0bc\0", 6, 3},
	};
	size_t count;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint8_t *bytes = (const uint8_t *)cases[i].bytes;
		int err = mangled_count(bytes, cases[i].len, &count);

		ck_assert_int_eq(err, cases[i].count ? 0 : -EBADMSG);
		if (!err)
			ck_assert_uint_eq(count, cases[i].count);
	}
}
END_TEST

START_TEST(no_more_than_agreed)
{
	static uint8_t many[MANGLED_MAX_NAMES + 1];
	_cleanup_free_ uint8_t *longest = calloc(1, MAX_SYMBOL_NAME_BYTES + 2);
	size_t count;

	ck_assert_int_eq(mangled_count(many, MANGLED_MAX_NAMES, &count), 0);
	ck_assert_int_eq(mangled_count(many, sizeof(many), &count), -EBADMSG);
	memset(longest, 'a', MAX_SYMBOL_NAME_BYTES);
	ck_assert_int_eq(mangled_count(longest, MAX_SYMBOL_NAME_BYTES + 1, &count), 0);
	longest[MAX_SYMBOL_NAME_BYTES] = 'a';
	ck_assert_int_eq(mangled_count(longest, MAX_SYMBOL_NAME_BYTES + 2, &count), -EBADMSG);
}
END_TEST

START_TEST(starts)
{
	static const struct {
		const char *name;
		size_t skipped;
		bool mangled;
	} cases[] = {
		{"_Z1f", 0, true}, {"__Z1f", 1, true},    {"___Z1f", 2, true}, {"_R1f", 0, true},
		{"_Z", 0, true},   {"", 0, false},        {"_", 0, false},     {"Z1f", 0, false},
		{"__R", 0, false}, {"____Z1f", 0, false}, {"main", 0, false},
	};
	_cleanup_free_ char *cut = calloc(1, MAX_SYMBOL_NAME_BYTES + 1);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert(mangled_begins(cases[i].name) == cases[i].mangled);
		ck_assert_ptr_eq(mangled_start(cases[i].name),
		                 cases[i].mangled ? cases[i].name + cases[i].skipped : NULL);
	}
	memset(cut, '1', MAX_SYMBOL_NAME_BYTES);
	memcpy(cut, "_Z", strlen("_Z"));
	ck_assert_ptr_null(mangled_start(cut));
	ck_assert(mangled_begins(cut));
	cut[MAX_SYMBOL_NAME_BYTES - 1] = '\0';
	ck_assert_ptr_eq(mangled_start(cut), cut);
}
END_TEST

/* The answer's bytes; the caller releases them. */
static struct buf answer_to(const void *question, size_t len, uint64_t max_bytes, int expected)
{
	_cleanup_free_ uint8_t *bytes = malloc(len ?: 1);
	struct reading reading = {
		.job = READER_DEMANGLE, .bytes = bytes, .len = len, .max_bytes = max_bytes};
	struct buf out = BUF_INIT;

	memcpy(bytes, question, len);
	ck_assert_int_eq(demangle_answer(&reading, &out), expected);
	return out;
}

START_TEST(answers)
{
	static const char question[] = "_ZN3foo3barEi\0main\0\0__Z1fv\0_Znonsense";
	static const char expected[] = "foo::bar(int)\0\0\0f()\0";
	_cleanup_(buf_release) struct buf out = answer_to(question, sizeof(question), 1 << 20, 0);

	ck_assert_uint_eq(out.len, sizeof(expected));
	ck_assert_mem_eq(out.data, expected, sizeof(expected));
	answer_to("", 0, 1 << 20, -EPROTO);
	answer_to("_Z1fv", strlen("_Z1fv"), 1 << 20, -EPROTO);
}
END_TEST

/* Names that expand to tens of KiB each: as many are answered as the memory bound allows. */
START_TEST(long_answers)
{
	_cleanup_(buf_release) struct buf question = BUF_INIT;
	size_t count;

	for (int i = 0; i < 200; i++) {
		buf_add_text(&question, "_Z1f1AIiiE");
		for (int depth = 0; depth < 10; depth++)
			buf_printf(&question, "S_IS%d_S%d_E", depth, depth);
		buf_add_char(&question, '\0');
	}
	_cleanup_(buf_release) struct buf out = answer_to(question.data, question.len, 16 << 20, 0);
	ck_assert_uint_le(out.len, 1 << 20);
	ck_assert_int_eq(mangled_count(out.data, out.len, &count), 0);
	ck_assert_uint_gt(count, 10);
	ck_assert_uint_lt(count, 200);
	for (const char *at = (const char *)out.data; count--; at += strlen(at) + 1)
		ck_assert_int_eq(strncmp(at, "f(A<int", 7), 0);
	/* There is always room for one. */
	_cleanup_(buf_release) struct buf one = answer_to(question.data, question.len, 1, 0);
	ck_assert_int_eq(mangled_count(one.data, one.len, &count), 0);
	ck_assert_uint_eq(count, 1);
}
END_TEST

Suite *mangled_suite(void)
{
	Suite *suite = suite_create("mangled");
	TCase *tcase = tcase_create("mangled");

	tcase_add_test(tcase, counts);
	tcase_add_test(tcase, no_more_than_agreed);
	tcase_add_test(tcase, starts);
	tcase_add_test(tcase, answers);
	tcase_add_test(tcase, long_answers);
	suite_add_tcase(suite, tcase);
	return suite;
}
