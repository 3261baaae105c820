/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Code objects as the kernel half reports them: names, lines, repeated reports, truncated ones, and
 * false values.
 */
#include "tests/unit/python_told.h"
#include "tests/unit/suites.h"

#include "base/buf.h"
#include "base/clock.h"
#include "object/reach.h"
#include "python/python_codes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define UNREADABLE "[python: name not readable]"

static uint64_t identity(struct python_codes *codes, uint64_t signature, uint32_t offset)
{
	struct runtime_frame place;

	ck_assert(python_codes_find(codes, signature, offset, &place));
	return place.identity;
}

START_TEST(tells_what_it_was_told)
{
	_cleanup_(python_codes_freep) struct python_codes *codes = python_codes_new(1 << 20);
	struct told told = told_of(1, "C.method", "/srv/app.py");
	struct runtime_frame place = {.line = 77};

	ck_assert_int_eq(tell(codes, &told), 0);
	check_place(codes, 1, "C.method", "/srv/app.py", 11);
	ck_assert(python_codes_find(codes, 1, 4, &place));
	ck_assert_uint_eq(place.line, 0);
	ck_assert_uint_eq(place.first_line, 10);
	ck_assert_uint_eq(place.version, 0x030b);
	place.line = 77;
	ck_assert(!python_codes_find(codes, 2, 0, &place));
	ck_assert_uint_eq(place.line, 77);
}
END_TEST

struct named {
	uint16_t bytes;
	uint8_t kind, cut;
	const char *name, *function, *file;
};

static const struct named named[] = {
	{0, 0, 0, "", UNREADABLE, ""},
	{0, 1, 3, "", UNREADABLE, ""},
	{0, 99, 0, "", UNREADABLE, ""},
	{1, 2, 0, "f", UNREADABLE, ""},
	{4, 1, 0,
         "na\x01"
         "e",
         "na e", "na e"},
	{4, 1, 3, "name", "name...", "name..."},
	{4, 3, 0,
         "f\xfc"
         "r1",
         "f\xc3\xbcr1", "f\xc3\xbcr1"},
	{4, 2, 0, "\xb1\x03\x00\xd8", "\xce\xb1\xef\xbf\xbd", "\xce\xb1\xef\xbf\xbd"},
	{4, 4, 0, "\x00\xf6\x01\x00", "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
};

START_TEST(names_of_each_kind)
{
	_cleanup_(python_codes_freep) struct python_codes *codes = python_codes_new(1 << 20);
	struct told told = told_of(1, named[_i].name, named[_i].name);

	told.code.name_bytes = told.code.file_bytes = named[_i].bytes;
	told.code.name_kind = told.code.file_kind = named[_i].kind;
	told.code.cut = named[_i].cut;
	ck_assert_int_eq(tell(codes, &told), 0);
	check_place(codes, 1, named[_i].function, named[_i].file, 11);
}
END_TEST

START_TEST(identity_is_of_what_is_shown)
{
	_cleanup_(python_codes_freep) struct python_codes *codes = python_codes_new(1 << 20);
	struct told first = told_of(1, "ab", "c"), same = told_of(2, "ab", "c");
	struct told shifted = told_of(3, "a", "bc"), later = told_of(4, "ab", "c");

	later.code.first_line = 12;
	same.code.pid = 1;
	same.code.version = 0x030c;
	tell(codes, &first);
	tell(codes, &same);
	tell(codes, &shifted);
	tell(codes, &later);
	ck_assert_uint_eq(identity(codes, 1, 0), identity(codes, 2, 0));
	ck_assert_uint_eq(identity(codes, 1, 0), identity(codes, 1, 1));
	ck_assert_uint_ne(identity(codes, 1, 0), identity(codes, 1, 4));
	ck_assert_uint_ne(identity(codes, 1, 0), identity(codes, 3, 0));
	ck_assert_uint_ne(identity(codes, 1, 0), identity(codes, 4, 0));
}
END_TEST

START_TEST(told_again_only_more_counts)
{
	_cleanup_(python_codes_freep) struct python_codes *codes = python_codes_new(1 << 20);
	struct told little = told_of(1, "", ""), much = told_of(1, "function", "/file.py");
	struct told other = told_of(1, "xunction", "/file.py");
	struct python_codes_stats stats;

	little.code.lines_bytes = 0;
	ck_assert_int_eq(tell(codes, &little), 0);
	check_place(codes, 1, UNREADABLE, "", 0);
	ck_assert_int_eq(tell(codes, &much), 0);
	ck_assert_int_eq(tell(codes, &other), 0);
	ck_assert_int_eq(tell(codes, &little), 0);
	check_place(codes, 1, "function", "/file.py", 11);
	python_codes_get_stats(codes, &stats);
	ck_assert_uint_eq(stats.codes, 1);
	ck_assert_uint_eq(stats.codes_evicted, 0);
}
END_TEST

/* Line tables longer than a report may carry; the rest is in the memory of this process. */

enum { LONG_LINES = 3 * MAX_PYTHON_LINES };

static void make_long(uint8_t table[LONG_LINES])
{
	/* Entries of one instruction each, each with the next line: 0xd8 and two columns. */
	for (size_t i = 0; i < LONG_LINES; i++)
		table[i] = i % 3 ? 0 : 0xd8;
}

static void check_far(struct python_codes *codes, uint32_t line)
{
	struct runtime_frame place;

	ck_assert(python_codes_find(codes, 1, 2 * 4000, &place));
	ck_assert_uint_eq(place.line, line);
	check_place(codes, 1, "f", "g", 11);
}

static struct told told_long(const uint8_t *table)
{
	struct told told = told_of(1, "f", "g");

	told.code.lines_bytes = LONG_LINES;
	told.code.lines_address = (uint64_t)(uintptr_t)table;
	told.lines = table;
	return told;
}

START_TEST(long_tables_are_fetched)
{
	static uint8_t table[LONG_LINES];
	_cleanup_(python_codes_freep) struct python_codes *codes = python_codes_new(1 << 20);
	struct told told = told_long(table);

	make_long(table);
	ck_assert_int_eq(tell(codes, &told), 0);
	check_far(codes, 10 + 4001);
}
END_TEST

/* The crew fetches the table; until then the code object is known as far as it was reported. */
START_TEST(long_tables_are_fetched_by_a_crew)
{
	static uint8_t table[LONG_LINES];
	_cleanup_(python_codes_freep) struct python_codes *codes = python_codes_new(1 << 20);
	struct told told = told_long(table);
	_cleanup_(crew_freep) struct crew *crew = NULL;
	uv_loop_t loop;

	uv_loop_init(&loop);
	ck_assert_int_eq(
		crew_new(&(struct crew_config){.loop = &loop, .deadline_ns = 2000000000}, &crew),
		0);
	python_codes_fetch_by(codes, crew, NULL);
	make_long(table);
	ck_assert_int_eq(tell(codes, &told), 0);
	check_far(codes, 0);
	crew_settle(crew, 1000000000);
	check_far(codes, 10 + 4001);
	crew_stop(crew);
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(uv_loop_close(&loop), 0);
}
END_TEST

START_TEST(long_tables_that_are_gone)
{
	static uint8_t table[LONG_LINES], other[LONG_LINES];
	_cleanup_(python_codes_freep) struct python_codes *codes = python_codes_new(1 << 20);
	struct told told = told_long(table);

	make_long(table);
	make_long(other);
	other[MAX_PYTHON_LINES - 1] ^= 1;
	switch (_i) {
	case 0: /* another table is there now */
		told.code.lines_address = (uint64_t)(uintptr_t)other;
		break;
	case 1: /* no memory is there */
		told.code.lines_address = 0;
		break;
	case 2: /* not an address of a process */
		told.code.lines_address = UINT64_MAX - 5;
		break;
	case 3:
		told.code.pid = 0;
		break;
	case 4:
		told.code.pid = UINT32_MAX;
		break;
	case 5: /* more than the limit */
		told.code.lines_bytes = UINT32_MAX;
		break;
	case 6:
		told.code.lines_bytes = (1 << 20) + 1;
		break;
	}
	ck_assert_int_eq(tell(codes, &told), 0);
	check_far(codes, 0);
	/* Reported again when the table is there, it is known to its end. */
	told = told_long(table);
	ck_assert_int_eq(tell(codes, &told), 0);
	check_far(codes, 10 + 4001);
}
END_TEST

/* A user's long tables do not use up what others may have fetched. What is put off is reported
 * again a while later. */
START_TEST(users_have_shares_of_fetching)
{
	enum { TABLE = 1 << 20, TABLES = 20, ANOTHER = TABLES + 1 };
	_cleanup_(python_codes_freep) struct python_codes *codes = python_codes_new(64 << 20);
	_cleanup_free_ u64 *sent = calloc(PYTHON_SENT, sizeof(*sent));
	_cleanup_free_ uint8_t *table = malloc(TABLE);
	struct python_codes_stats stats;
	struct runtime_frame place;
	struct told told;

	ck_assert_ptr_nonnull(sent);
	ck_assert_ptr_nonnull(table);
	for (size_t i = 0; i < TABLE; i++)
		table[i] = i % 3 ? 0 : 0xd8;
	told = told_long(table);
	told.code.lines_bytes = TABLE;
	python_codes_told_in(codes, sent);
	python_codes_rest(codes, 100 * NSEC_PER_SEC);
	for (told.code.signature = 1; told.code.signature <= TABLES; told.code.signature++) {
		sent[told.code.signature] = told.code.signature;
		ck_assert_int_eq(tell_of(codes, 1, &told), 0);
	}
	python_codes_get_stats(codes, &stats);
	ck_assert_uint_gt(stats.lines_put_off, 0);
	told.code.signature = ANOTHER;
	ck_assert_int_eq(tell_of(codes, 2, &told), 0);
	ck_assert(python_codes_find(codes, ANOTHER, 2 * 4000, &place));
	ck_assert_uint_eq(place.line, 10 + 4001);
	/* The last of the first user's. */
	ck_assert(python_codes_find(codes, TABLES, 2 * 4000, &place));
	ck_assert_uint_eq(place.line, 0);
	ck_assert_uint_eq(sent[TABLES], TABLES);
	python_codes_rest(codes, 111 * NSEC_PER_SEC);
	ck_assert(python_codes_find(codes, 1, 0, &place));
	ck_assert(python_codes_find(codes, TABLES, 0, &place));
	ck_assert_uint_eq(sent[1], 1);
	ck_assert_uint_eq(sent[TABLES], 0);
	told.code.signature = TABLES;
	ck_assert_int_eq(tell_of(codes, 3, &told), 0);
	ck_assert(python_codes_find(codes, TABLES, 2 * 4000, &place));
	ck_assert_uint_eq(place.line, 10 + 4001);
}
END_TEST

/* In 3.8 and 3.9 the last line holds behind the end of a table, but not behind a truncation. */
START_TEST(cut_pairs)
{
	static const uint8_t pairs[MAX_PYTHON_LINES + 2] = {2, 1, 2, 1};
	_cleanup_(python_codes_freep) struct python_codes *codes = python_codes_new(1 << 20);
	struct told told = told_of(1, "f", "g");
	struct runtime_frame place;

	told.code.version = 0x0308 + (uint32_t)_i;
	told.code.lines_bytes = sizeof(pairs);
	told.lines = pairs;
	ck_assert_int_eq(tell(codes, &told), 0);
	check_place(codes, 1, "f", "g", 10);
	ck_assert(python_codes_find(codes, 1, 2, &place));
	ck_assert_uint_eq(place.line, 11);
	ck_assert(python_codes_find(codes, 1, 4, &place));
	ck_assert_uint_eq(place.line, 0);

	told.code.signature = 2;
	told.code.lines_bytes = 4;
	ck_assert_int_eq(tell(codes, &told), 0);
	ck_assert(python_codes_find(codes, 2, 4, &place));
	ck_assert_uint_eq(place.line, 12);
}
END_TEST

START_TEST(keeps_one_without_room)
{
	_cleanup_(python_codes_freep) struct python_codes *codes = python_codes_new(0);
	struct told first = told_of(1, "f", "x"), second = told_of(2, "g", "y");
	struct runtime_frame place;

	tell(codes, &first);
	check_place(codes, 1, "f", "x", 11);
	tell(codes, &second);
	check_place(codes, 2, "g", "y", 11);
	ck_assert(!python_codes_find(codes, 1, 0, &place));
}
END_TEST

static void break_signature(struct python_code *code)
{
	code->signature |= 1ULL << 56;
}

static void break_name(struct python_code *code)
{
	code->name_bytes++;
}

static void break_name_much(struct python_code *code)
{
	code->name_bytes = UINT16_MAX;
}

static void break_file(struct python_code *code)
{
	code->file_bytes = UINT16_MAX;
}

static void break_lines(struct python_code *code)
{
	code->lines_bytes++;
}

static void break_lines_much(struct python_code *code)
{
	code->lines_bytes = UINT32_MAX;
}

static void break_name_kind(struct python_code *code)
{
	code->name_kind = 0;
}

static void break_file_kind(struct python_code *code)
{
	code->file_kind = 5;
}

static void (*const breaks[])(struct python_code *) = {
	break_signature, break_name,       break_name_much, break_file,
	break_lines,     break_lines_much, break_name_kind, break_file_kind,
};

START_TEST(lies_are_refused)
{
	_cleanup_(python_codes_freep) struct python_codes *codes = python_codes_new(1 << 20);
	_cleanup_(buf_release) struct buf bytes = BUF_INIT;
	struct told told = told_of(1, "name", "file");
	struct python_codes_stats stats;
	struct runtime_frame place;

	breaks[_i](&told.code);
	buf_add(&bytes, &told.code, sizeof(told.code));
	buf_add(&bytes, "namefile\xd8\0", sizeof("namefile\xd8\0"));
	ck_assert_int_eq(python_codes_add(codes, 0, bytes.data, bytes.len), -EBADMSG);
	ck_assert(!python_codes_find(codes, 1, 0, &place));
	python_codes_get_stats(codes, &stats);
	ck_assert_uint_eq(stats.codes_broken, 1);
	ck_assert_uint_eq(stats.codes, 0);
}
END_TEST

START_TEST(cut_descriptions_are_refused)
{
	_cleanup_(python_codes_freep) struct python_codes *codes = python_codes_new(1 << 20);
	struct told told = told_of(1, "name", "file");
	uint8_t bytes[sizeof(told.code) + 4 + 4 + 3];

	memcpy(bytes, &told.code, sizeof(told.code));
	memcpy(bytes + sizeof(told.code), "namefile\xd8\0", 11);
	for (size_t len = 0; len < sizeof(bytes); len++) {
		_cleanup_free_ uint8_t *copy = malloc(len + 1);

		ck_assert_ptr_nonnull(copy);
		memcpy(copy + 1, bytes, len);
		ck_assert_int_eq(python_codes_add(codes, 0, copy + 1, len), -EBADMSG);
	}
	ck_assert_int_eq(python_codes_add(codes, 0, bytes, sizeof(bytes)), 0);
	check_place(codes, 1, "name", "file", 11);
}
END_TEST

Suite *python_codes_suite(void)
{
	Suite *suite = suite_create("python_codes");
	TCase *tcase = tcase_create("python_codes");

	tcase_add_test(tcase, tells_what_it_was_told);
	tcase_add_loop_test(tcase, names_of_each_kind, 0, sizeof(named) / sizeof(named[0]));
	tcase_add_test(tcase, identity_is_of_what_is_shown);
	tcase_add_test(tcase, told_again_only_more_counts);
	tcase_add_test(tcase, long_tables_are_fetched);
	tcase_add_test(tcase, long_tables_are_fetched_by_a_crew);
	tcase_add_loop_test(tcase, long_tables_that_are_gone, 0, 7);
	tcase_add_test(tcase, users_have_shares_of_fetching);
	tcase_add_loop_test(tcase, cut_pairs, 0, 2);
	tcase_add_test(tcase, keeps_one_without_room);
	tcase_add_loop_test(tcase, lies_are_refused, 0, sizeof(breaks) / sizeof(breaks[0]));
	tcase_add_test(tcase, cut_descriptions_are_refused);
	suite_add_tcase(suite, tcase);
	return suite;
}
