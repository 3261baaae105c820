/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which code objects are forgotten: those that there is no room for, and those not met for long.
 */
#include "tests/unit/python_told.h"
#include "tests/unit/suites.h"

#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

START_TEST(forgets_what_is_not_asked_for)
{
	enum { COUNT = 1000, MAX_BYTES = 16 * 1024 };
	_cleanup_(python_codes_freep) struct python_codes *codes = python_codes_new(MAX_BYTES);
	struct python_codes_stats stats;
	struct runtime_frame place;

	for (uint64_t i = 1; i <= COUNT; i++) {
		struct told told = told_of(i, "function", i % 2 ? "/one.py" : "/two.py");

		ck_assert_int_eq(tell(codes, &told), 0);
		check_place(codes, i, "function", i % 2 ? "/one.py" : "/two.py", 11);
		ck_assert(python_codes_find(codes, 1, 0, &place));
		python_codes_get_stats(codes, &stats);
		ck_assert_uint_le(stats.code_bytes, MAX_BYTES);
	}
	ck_assert_uint_gt(stats.codes, 10);
	ck_assert_uint_eq(stats.codes + stats.codes_evicted, COUNT);
	ck_assert(!python_codes_find(codes, 2, 0, &place));
	ck_assert(python_codes_find(codes, COUNT, 0, &place));
}
END_TEST

START_TEST(forgets_what_is_not_met)
{
	_cleanup_(python_codes_freep) struct python_codes *codes = python_codes_new(1 << 20);
	const struct told old = told_of(1, "old", "/one.py"), used = told_of(2, "used", "/one.py"),
			  others = told_of(3, "others", "/two.py");
	const uint64_t minute = 60 * NSEC_PER_SEC;
	_cleanup_free_ u64 *sent = calloc(PYTHON_SENT, sizeof(*sent));
	struct python_codes_stats stats;
	struct runtime_frame place;

	ck_assert_ptr_nonnull(sent);
	python_codes_told_in(codes, sent);
	sent[1] = 1;
	sent[2] = 2;
	python_codes_rest(codes, 100 * minute);
	ck_assert_int_eq(tell_of(codes, 1, &old), 0);
	ck_assert_int_eq(tell_of(codes, 1, &used), 0);
	ck_assert_int_eq(tell_of(codes, 2, &others), 0);
	for (uint64_t i = 101; i < 106; i++) {
		python_codes_rest(codes, i * minute);
		ck_assert(python_codes_find(codes, 2, 0, &place));
	}
	python_codes_get_stats(codes, &stats);
	ck_assert_uint_eq(stats.codes, 3);
	/* The kernel half is to report it again if it meets it. */
	ck_assert_uint_eq(sent[1], 0);
	python_codes_rest(codes, 106 * minute);
	python_codes_get_stats(codes, &stats);
	ck_assert_uint_eq(stats.codes, 1);
	check_place(codes, 2, "used", "/one.py", 11);
	ck_assert_uint_eq(sent[2], 2);
	python_codes_rest(codes, 200 * minute);
	python_codes_get_stats(codes, &stats);
	ck_assert_uint_eq(stats.codes + stats.code_bytes, 0);
	ck_assert_int_eq(tell_of(codes, 1, &old), 0);
	check_place(codes, 1, "old", "/one.py", 11);
}
END_TEST

/* A long or a short path. */
static const char *path_of(uint64_t number, char path[MAX_PYTHON_FILE + 1])
{
	snprintf(path, MAX_PYTHON_FILE + 1, "/%0*" PRIu64, number % 2 ? 500 : 5, number);
	return path;
}

/* A user's code objects stay, however many another user's programs have, and however long their
 * paths are. */
START_TEST(one_user_does_not_take_anothers_room)
{
	enum { MINE = 20, COUNT = 2000, MAX_BYTES = 64 * 1024 };
	_cleanup_(python_codes_freep) struct python_codes *codes = python_codes_new(MAX_BYTES);
	struct python_codes_stats stats;
	char path[MAX_PYTHON_FILE + 1];

	for (uint64_t i = 1; i <= MINE; i++) {
		struct told told = told_of(i, "mine", "/mine.py");

		ck_assert_int_eq(tell_of(codes, 1, &told), 0);
	}
	for (uint64_t i = 1; i <= COUNT; i++) {
		struct told told = told_of(MINE + i, "other", path_of(i, path));

		ck_assert_int_eq(tell_of(codes, 2, &told), 0);
	}
	python_codes_get_stats(codes, &stats);
	ck_assert_uint_le(stats.code_bytes, MAX_BYTES);
	ck_assert_uint_gt(stats.codes_evicted, 0);
	for (uint64_t i = 1; i <= MINE; i++)
		check_place(codes, i, "mine", "/mine.py", 11);
	/* The user with the most code objects loses some. */
	for (uint64_t i = 1; i <= COUNT; i++) {
		struct told told = told_of(MINE + COUNT + i, "third", "/third.py");

		ck_assert_int_eq(tell_of(codes, 3, &told), 0);
	}
	for (uint64_t i = 1; i <= MINE; i++)
		check_place(codes, i, "mine", "/mine.py", 11);
	check_place(codes, MINE + COUNT - 1, "other", path_of(COUNT - 1, path), 11);
}
END_TEST

Suite *python_codes_room_suite(void)
{
	Suite *suite = suite_create("python_codes_room");
	TCase *tcase = tcase_create("python_codes_room");

	tcase_add_test(tcase, forgets_what_is_not_asked_for);
	tcase_add_test(tcase, forgets_what_is_not_met);
	tcase_add_test(tcase, one_user_does_not_take_anothers_room);
	suite_add_tcase(suite, tcase);
	return suite;
}
