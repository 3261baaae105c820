/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct buf: growth, errors that persist, and files.
 */
#include "base/buf.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <string.h>

START_TEST(empty_is_text)
{
	struct buf buf = BUF_INIT;

	ck_assert_str_eq(buf_text(&buf), "");
	buf_add(&buf, NULL, 0);
	ck_assert_uint_eq(buf.len, 0);
	buf_release(&buf);
	buf_release(&buf);
}
END_TEST

START_TEST(holds_no_more_than_its_max)
{
	_cleanup_(buf_release) struct buf buf = {.max = 10};

	buf_add(&buf, "0123456789", 10);
	ck_assert_int_eq(buf_error(&buf), 0);
	buf_add_char(&buf, 'x');
	ck_assert_int_eq(buf_error(&buf), -EFBIG);
	ck_assert_str_eq(buf_text(&buf), "0123456789");
	buf_release(&buf);
	buf_printf(&buf, "%s", "0123456789a");
	ck_assert_int_eq(buf_error(&buf), -EFBIG);
	ck_assert_uint_eq(buf.len, 0);
}
END_TEST

START_TEST(grows_and_stays_terminated)
{
	_cleanup_(buf_release) struct buf buf = BUF_INIT;

	for (size_t i = 0; i < 10000; i++) {
		buf_add_char(&buf, (char)('a' + i % 26));
		ck_assert_uint_eq(strlen(buf_text(&buf)), i + 1);
	}
	buf_clear(&buf);
	ck_assert_str_eq(buf_text(&buf), "");
	buf_add_text(&buf, "x=");
	buf_printf(&buf, "%d/%s", 42, "y");
	ck_assert_str_eq(buf_text(&buf), "x=42/y");
	buf_add(&buf, "\0z", 2);
	ck_assert_uint_eq(buf.len, 8);
}
END_TEST

START_TEST(error_sticks)
{
	_cleanup_(buf_release) struct buf buf = BUF_INIT;

	buf_add_text(&buf, "kept");
	ck_assert_ptr_null(buf_reserve(&buf, SIZE_MAX - 2));
	ck_assert_int_eq(buf_error(&buf), -ENOMEM);
	buf_add_text(&buf, "lost");
	buf_printf(&buf, "%d", 1);
	ck_assert_str_eq(buf_text(&buf), "kept");
	ck_assert_int_eq(buf_error(&buf), -ENOMEM);
	buf_clear(&buf);
	buf_add_text(&buf, "again");
	ck_assert_int_eq(buf_error(&buf), 0);
	ck_assert_str_eq(buf_text(&buf), "again");
}
END_TEST

START_TEST(reads_files_up_to_a_limit)
{
	_cleanup_(buf_release) struct buf buf = BUF_INIT;

	ck_assert_int_eq(buf_read_file(&buf, "/proc/self/status", 65536), 0);
	ck_assert_ptr_nonnull(strstr(buf_text(&buf), "Pid:"));
	size_t len = buf.len;
	ck_assert_int_eq(buf_read_file(&buf, "/proc/self/status", len / 2), -EFBIG);
	ck_assert_uint_eq(buf.len, 0);
	ck_assert_int_eq(buf_read_file(&buf, "/dev/zero", 100000), -EFBIG);
	ck_assert_int_eq(buf_read_file(&buf, "/nonexistent", 1), -ENOENT);
	ck_assert_int_eq(buf_read_file(&buf, "/proc", 1), -EISDIR);
	ck_assert_int_eq(buf_read_file(&buf, "/dev/null", 0), 0);
	ck_assert_uint_eq(buf.len, 0);
}
END_TEST

Suite *buf_suite(void)
{
	Suite *suite = suite_create("buf");
	TCase *tcase = tcase_create("buf");

	tcase_add_test(tcase, empty_is_text);
	tcase_add_test(tcase, grows_and_stays_terminated);
	tcase_add_test(tcase, holds_no_more_than_its_max);
	tcase_add_test(tcase, error_sticks);
	tcase_add_test(tcase, reads_files_up_to_a_limit);
	suite_add_tcase(suite, tcase);
	return suite;
}
