/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /proc/PID/maps: lines as the kernel writes them, and malformed ones.
 */
#include "tests/unit/suites.h"

#include "object/maps.h"

#include <errno.h>
#include <string.h>

struct seen {
	size_t lines;
	struct maps_line last;
	char path[128];
	int stop_with;
};

static int remember(const struct maps_line *line, void *ctx)
{
	struct seen *seen = ctx;

	seen->lines++;
	seen->last = *line;
	ck_assert_uint_lt(line->path_len, sizeof(seen->path));
	memcpy(seen->path, line->path, line->path_len);
	seen->path[line->path_len] = '\0';
	return seen->stop_with;
}

START_TEST(reads_a_file_mapping)
{
	static const char text[] = "7f1c00000000-7f1c00021000 r-xp 00001000 fe:01 1234       "
				   "/usr/lib/a b.so (deleted)\n";
	struct seen seen = {0};

	ck_assert_int_eq(maps_parse(text, strlen(text), remember, &seen), 0);
	ck_assert_uint_eq(seen.lines, 1);
	ck_assert_uint_eq(seen.last.start, 0x7f1c00000000);
	ck_assert_uint_eq(seen.last.end, 0x7f1c00021000);
	ck_assert_uint_eq(seen.last.offset, 0x1000);
	ck_assert_uint_eq(seen.last.major, 0xfe);
	ck_assert_uint_eq(seen.last.minor, 1);
	ck_assert_uint_eq(seen.last.inode, 1234);
	ck_assert(seen.last.executable);
	ck_assert_str_eq(seen.path, "/usr/lib/a b.so (deleted)");
}
END_TEST

START_TEST(reads_anonymous_and_unterminated_lines)
{
	static const char text[] =
		"1000-2000 rw-p 00000000 00:00 0 \n"
		"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]";
	struct seen seen = {0};

	ck_assert_int_eq(maps_parse(text, strlen(text), remember, &seen), 0);
	ck_assert_uint_eq(seen.lines, 2);
	ck_assert_str_eq(seen.path, "[vsyscall]");
	ck_assert_int_eq(maps_parse(text, 33, remember, &seen), 0);
	ck_assert_str_eq(seen.path, "");
	ck_assert(!seen.last.executable);
}
END_TEST

START_TEST(stops_when_told)
{
	static const char text[] = "1000-2000 r-xp 0 00:00 0\n3000-4000 r-xp 0 00:00 0\n";
	struct seen seen = {.stop_with = -ENOSPC};

	ck_assert_int_eq(maps_parse(text, strlen(text), remember, &seen), -ENOSPC);
	ck_assert_uint_eq(seen.lines, 1);
}
END_TEST

static const char *const broken[] = {
	"x",
	"1000",
	"1000-",
	"2000-1000 r-xp 0 00:00 0",
	"1000-1000 r-xp 0 00:00 0",
	"1000-2000",
	"1000-2000 rx 0 00:00 0",
	"1000-2000 r-xp",
	"1000-2000 r-xp 0 0000 0",
	"1000-2000 r-xp 0 00:00 x",
	"11111111111111111-22222222222222222 r-xp 0 00:00 0",
	"1000-2000 r-xp 0 00:00 99999999999999999999",
};

START_TEST(refuses_broken_lines)
{
	struct seen seen = {0};

	ck_assert_int_eq(maps_parse(broken[_i], strlen(broken[_i]), remember, &seen), -EBADMSG);
	ck_assert_uint_eq(seen.lines, 0);
}
END_TEST

START_TEST(takes_nothing)
{
	struct seen seen = {0};

	ck_assert_int_eq(maps_parse("", 0, remember, &seen), 0);
	ck_assert_uint_eq(seen.lines, 0);
}
END_TEST

/* The file arrives in pieces, the second of which ends within a line. */
START_TEST(leaves_what_is_executable)
{
	char text[] = "1000-2000 r--p 00000000 fe:01 7 /bin/true\n"
		      "2000-3000 r-xp 00001000 fe:01 7 /bin/true\n"
		      "3000-4000 rw-p 00002000 fe:01 7 /bin/true\n"
		      "malformed\n"
		      "4000-5000 rw-p";
	const char *left = "2000-3000 r-xp 00001000 fe:01 7 /bin/true\n"
			   "malformed\n"
			   "4000-5000 rw-p";
	size_t rest, len = maps_leave_executable(text, strlen(text), &rest);

	ck_assert_uint_eq(len, strlen(left));
	ck_assert_mem_eq(text, left, len);
	ck_assert_uint_eq(rest, strlen("4000-5000 rw-p"));
	len = maps_leave_executable(text, len - rest, &rest);
	ck_assert_uint_eq(len, strlen(left) - strlen("4000-5000 rw-p"));
	ck_assert_uint_eq(rest, 0);
	ck_assert_uint_eq(maps_leave_executable(text, 0, &rest), 0);
	ck_assert_uint_eq(rest, 0);
}
END_TEST

Suite *maps_suite(void)
{
	Suite *suite = suite_create("maps");
	TCase *tests = tcase_create("parse");

	tcase_add_test(tests, reads_a_file_mapping);
	tcase_add_test(tests, reads_anonymous_and_unterminated_lines);
	tcase_add_test(tests, stops_when_told);
	tcase_add_loop_test(tests, refuses_broken_lines, 0, sizeof(broken) / sizeof(broken[0]));
	tcase_add_test(tests, takes_nothing);
	tcase_add_test(tests, leaves_what_is_executable);
	suite_add_tcase(suite, tests);
	return suite;
}
