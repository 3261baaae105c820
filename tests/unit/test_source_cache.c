/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Lines of the source files that one answer shows: which files are kept, and how much is read at
 * most.
 */
#include "tests/unit/suites.h"

#include "base/clock.h"
#include "symbolize/source_cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct source_root ours = {0};
static char root[64], path[128];
static struct aside *aside;
static struct source_cache *cache;
static struct source_budget budget;

static void set_up(void)
{
	snprintf(root, sizeof(root), "/tmp/profd-cache-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	ck_assert_int_eq(chmod(root, 0755), 0);
	budget = source_cache_budget;
	ck_assert_uint_le(budget.ns, NSEC_PER_SEC);
	/* A busy host does not matter here. */
	budget.ns = 60 * NSEC_PER_SEC;
	aside = aside_new();
	cache = source_cache_new(&budget, aside);
}

static void tear_down(void)
{
	char command[128];

	source_cache_free(cache);
	aside_free(aside);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	ck_assert_int_eq(system(command), 0);
}

/* Leaves the file's path in `path`; the file is sparse up to `size`. */
static void put(const char *name, const char *text, mode_t mode, off_t size)
{
	_cleanup_close_ int fd = -1;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	ck_assert_int_eq(fchmod(fd, mode), 0);
	if (size)
		ck_assert_int_eq(ftruncate(fd, size), 0);
}

static const char *line(uint32_t number)
{
	return source_cache_line(cache, &ours, path, number);
}

START_TEST(caches_files)
{
	put("a.c", "yes\n", 0644, 0);
	ck_assert_str_eq(line(1), "yes");
	put("a.c", "new\n", 0644, 0);
	ck_assert_str_eq(line(1), "yes");
	ck_assert_ptr_null(line(2));
	put("secret.c", "no\n", 0600, 0);
	ck_assert_ptr_null(line(1));
	ck_assert_ptr_null(line(1));
	/* A process that has ended has no files. */
	ck_assert_ptr_null(
		source_cache_line(cache, &(struct source_root){.pid = 4000001}, "/etc/passwd", 1));
	for (int i = 0; i < 2000; i++) {
		snprintf(path, sizeof(path), "/nowhere/%d", i);
		ck_assert_ptr_null(line(1));
	}
	/* The limit on files is reached. */
	ck_assert_ptr_null(source_cache_line(cache, &ours, "/etc/passwd", 1));
	snprintf(path, sizeof(path), "%s/a.c", root);
	ck_assert_str_eq(line(1), "yes");
}
END_TEST

static void large(int number)
{
	char name[16];

	snprintf(name, sizeof(name), "large%d.c", number);
	put(name, "yes\n", 0644, MAX_SOURCE_BYTES);
}

/* The limit holds for many large files, and for files that are asked for in turn. */
START_TEST(large_files_end)
{
	enum { SHOWN = (64 << 20) / MAX_SOURCE_BYTES };

	for (int i = 0; i < SHOWN; i++) {
		large(i);
		ck_assert_str_eq(line(1), "yes");
	}
	large(SHOWN);
	ck_assert_ptr_null(line(1));
	put("small.c", "no\n", 0644, 0);
	ck_assert_ptr_null(line(1));
	/* The file that was read last is still there. */
	large(SHOWN - 1);
	ck_assert_str_eq(line(1), "yes");
	large(0);
	ck_assert_ptr_null(line(1));
}
END_TEST

/* Each line takes memory. */
START_TEST(many_lines)
{
	static char lines[MAX_SOURCE_BYTES / 2 + 1];

	memset(lines, '\n', sizeof(lines) - 1);
	put("lines.c", lines, 0644, 0);
	ck_assert_ptr_null(line(1));
	put("a.c", "yes\n", 0644, 0);
	ck_assert_str_eq(line(1), "yes");
}
END_TEST

START_TEST(time_ends)
{
	put("a.c", "yes\n", 0644, 0);
	source_cache_free(cache);
	budget.ns = 0;
	cache = source_cache_new(&budget, aside);
	ck_assert_ptr_null(line(1));
	source_cache_free(cache);
	/* The time is over when the file is opened. */
	budget.ns = 1;
	cache = source_cache_new(&budget, aside);
	ck_assert_ptr_null(line(1));
	put("b.c", "yes\n", 0644, 0);
	ck_assert_ptr_null(line(1));
}
END_TEST

Suite *source_cache_suite(void)
{
	Suite *suite = suite_create("source_cache");
	TCase *tests = tcase_create("source_cache");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_set_timeout(tests, 30);
	tcase_add_test(tests, caches_files);
	tcase_add_test(tests, large_files_end);
	tcase_add_test(tests, many_lines);
	tcase_add_test(tests, time_ends);
	suite_add_tcase(suite, tests);
	return suite;
}
