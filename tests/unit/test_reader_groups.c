/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The control groups of processes, from a tree of files: each group appears once, and no user has
 * more than their share.
 */
#include "tests/unit/suites.h"

#include "base/cleanup.h"
#include "memory/reader_groups.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { HIS = 1000, HERS = 2000 };

static struct reader_groups groups;
static char root[32];

static void begin(void)
{
	strcpy(root, "/tmp/profd-groups-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	reader_groups_init(&groups);
	groups.mount = (struct control_group_mount){.version = 2, .root = "/"};
	strcpy(groups.mount.point, root);
}

static void end(void)
{
	char command[64];

	reader_groups_release(&groups);
	snprintf(command, sizeof(command), "rm -r %s", root);
	ck_assert_int_eq(system(command), 0);
}

static void write_file(const char *path, const char *name, const char *text)
{
	char full[256];
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	mkdir(full, 0700);
	snprintf(full, sizeof(full), "%s%s/%s", root, path, name);
	file = fopen(full, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static uint32_t find(uint32_t user, const char *path)
{
	char text[2 * MAX_CONTROL_GROUP_BYTES];
	int len = snprintf(text, sizeof(text), "0::%s\n", path);

	return reader_groups_find(&groups, user, text, (size_t)len);
}

static uint32_t find_number(uint32_t user, uint32_t number)
{
	char path[64];

	snprintf(path, sizeof(path), "/user-%u/%u", user, number);
	return find(user, path);
}

START_TEST(one_limit_is_told_once)
{
	const struct memory_group_reading *readings;
	uint32_t a, b, other, gone;
	size_t count;

	write_file("/pod", "memory.current", "100\n");
	write_file("/pod", "memory.max", "1000\n");
	write_file("/pod/a", "memory.current", "40\n");
	write_file("/pod/b", "memory.current", "60\n");
	write_file("/other", "memory.current", "7\n");
	for (uint64_t ms = 1000; ms <= 9000; ms += 1000) {
		reader_groups_begin(&groups, ms);
		a = find(HIS, "/pod/a");
		other = find(HERS, "/other");
		b = find(HERS, "/pod/b");
		gone = find(HERS, "/gone");
		ck_assert_uint_eq(find(HERS, "/pod/a"), a);
		ck_assert_int_eq(reader_groups_end(&groups), 0);
		readings = reader_groups_all(&groups, &count);
		ck_assert_uint_eq(count, 2);
		ck_assert_uint_eq(reader_groups_index(&groups, a), reader_groups_index(&groups, b));
		ck_assert_uint_eq(reader_groups_index(&groups, gone), MEMORY_NO_GROUP);
		ck_assert_str_eq(readings[reader_groups_index(&groups, a)].path, "/pod");
		ck_assert_uint_eq(readings[reader_groups_index(&groups, a)].user, HIS);
		ck_assert_uint_eq(readings[reader_groups_index(&groups, a)].usage.bytes, 100);
		ck_assert_str_eq(readings[reader_groups_index(&groups, other)].path, "/other");
		ck_assert_uint_eq(readings[reader_groups_index(&groups, other)].user, HERS);
	}
	/* A group that no process uses is forgotten, and its number is given out again. */
	reader_groups_begin(&groups, 10000);
	reader_groups_use(&groups, b, true);
	ck_assert_int_eq(reader_groups_end(&groups), 0);
	readings = reader_groups_all(&groups, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_uint_eq(readings[0].user, HERS);
	ck_assert_uint_eq(find(HIS, "/new"), a);
}
END_TEST

START_TEST(nobody_takes_all_groups)
{
	uint32_t has = 0;

	reader_groups_begin(&groups, 1000);
	for (uint32_t number = 0; number < 5000; number++)
		has += find_number(HIS, number) != MEMORY_NO_GROUP;
	ck_assert_uint_ge(has, 1700);
	ck_assert_uint_le(has, 2048);
	ck_assert_uint_eq(groups.refused, 5000 - has);
	ck_assert_uint_ne(find_number(HIS, 5), MEMORY_NO_GROUP);
	for (uint32_t number = 0; number < 500; number++)
		ck_assert_uint_ne(find_number(HERS, number), MEMORY_NO_GROUP);
	for (uint32_t number = 0; number < 500; number++)
		ck_assert_uint_ne(find_number(0, number), MEMORY_NO_GROUP);
	ck_assert_int_eq(reader_groups_end(&groups), 0);
	/* None of these groups is used any more. */
	reader_groups_begin(&groups, 2000);
	ck_assert_int_eq(reader_groups_end(&groups), 0);
	reader_groups_begin(&groups, 3000);
	for (uint32_t number = 0; number < 5000; number++)
		has -= find_number(HIS, number) != MEMORY_NO_GROUP;
	ck_assert_uint_eq(has, 0);
}
END_TEST

START_TEST(a_long_path_is_no_group)
{
	char path[MAX_CONTROL_GROUP_BYTES + 1];

	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[MAX_CONTROL_GROUP_BYTES] = '\0';
	ck_assert_uint_eq(find(HIS, path), MEMORY_NO_GROUP);
	path[MAX_CONTROL_GROUP_BYTES - 1] = '\0';
	ck_assert_uint_eq(find(HIS, path), 0);
}
END_TEST

Suite *reader_groups_suite(void)
{
	Suite *suite = suite_create("reader_groups");
	TCase *tests = tcase_create("all");

	tcase_add_checked_fixture(tests, begin, end);
	tcase_add_test(tests, one_limit_is_told_once);
	tcase_add_test(tests, nobody_takes_all_groups);
	tcase_add_test(tests, a_long_path_is_no_group);
	suite_add_tcase(suite, tests);
	return suite;
}
