/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct cache: the file that was least recently used is evicted first, no user gets all of the
 * room, open files are kept, and the order outlives the daemon.
 */
#include "fetch/cache.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { ROOT = 0, ALICE = 1000, BOB = 1001, MAX_BYTES = 1000 };

static char folder[64];
static struct cache *cache;

static void set_up(void)
{
	snprintf(folder, sizeof(folder), "/tmp/profd-test-cache-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(cache_open(folder, MAX_BYTES, &cache), 0);
}

static void tear_down(void)
{
	char command[128];

	cache_free(cache);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}

static int keep(const char *build_id, uint32_t owner, size_t bytes)
{
	static const char filler[MAX_BYTES + 1];
	_cleanup_close_ int fd = cache_begin(cache);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, filler, bytes), (ssize_t)bytes);
	return cache_keep(cache, build_id, owner, bytes);
}

static bool has(const char *build_id)
{
	_cleanup_close_ int fd = cache_get(cache, build_id);

	ck_assert(fd >= 0 || fd == -ENOENT);
	return fd >= 0;
}

static struct cache_stats stats(void)
{
	struct cache_stats now;

	cache_get_stats(cache, &now);
	return now;
}

/* The number of files in the folder, including those that have no owner yet. */
static unsigned int count_files(void)
{
	char command[128];
	unsigned int count = 0;
	FILE *lines;

	snprintf(command, sizeof(command), "ls -A %s/files | wc -l", folder);
	lines = popen(command, "r");
	ck_assert_ptr_nonnull(lines);
	ck_assert_int_eq(fscanf(lines, "%u", &count), 1);
	pclose(lines);
	return count;
}

START_TEST(least_recently_used)
{
	ck_assert_int_eq(keep("aa", ROOT, 400), 0);
	ck_assert_int_eq(keep("bb", ROOT, 400), 0);
	ck_assert(has("aa"));
	ck_assert_int_eq(keep("cc", ROOT, 400), 0);
	ck_assert(has("aa"));
	ck_assert(!has("bb"));
	ck_assert(has("cc"));
	ck_assert_uint_eq(stats().bytes, 800);
	ck_assert_uint_eq(stats().files, 2);
	ck_assert_uint_eq(stats().evicted, 1);
	ck_assert_uint_eq(count_files(), 2);
}
END_TEST

START_TEST(same_again)
{
	ck_assert_int_eq(keep("aa", ROOT, 400), 0);
	ck_assert_int_eq(keep("aa", ALICE, 300), 0);
	ck_assert_uint_eq(stats().bytes, 300);
	ck_assert_uint_eq(count_files(), 1);
}
END_TEST

START_TEST(half_for_each)
{
	ck_assert_int_eq(keep("aa", BOB, 300), 0);
	ck_assert_int_eq(keep("bb", ALICE, 300), 0);
	ck_assert_int_eq(keep("cc", ALICE, 300), 0);
	/* Alice's own file was evicted, although there was room and although Bob's is older. */
	ck_assert(has("aa"));
	ck_assert(!has("bb"));
	ck_assert(has("cc"));
	ck_assert_int_eq(keep("dd", ALICE, 501), -EDQUOT);
	ck_assert_uint_eq(count_files(), 2);
	ck_assert_int_eq(keep("ee", ROOT, 1001), -EDQUOT);
	ck_assert_int_eq(keep("ff", ROOT, 1000), 0);
	ck_assert_uint_eq(stats().bytes, 1000);
	ck_assert_uint_eq(count_files(), 1);
}
END_TEST

START_TEST(in_use)
{
	ck_assert_int_eq(keep("aa", BOB, 500), 0);
	ck_assert_int_eq(keep("bb", ALICE, 500), 0);
	int first = cache_get(cache, "aa"), second = cache_get(cache, "bb");
	ck_assert_int_ge(first, 0);
	ck_assert_int_ge(second, 0);
	ck_assert_int_eq(keep("cc", ALICE, 100), -EDQUOT);
	ck_assert_int_eq(keep("dd", ROOT, 100), -ENOSPC);
	/* A duplicate of the descriptor keeps the file, as one in another process does. */
	int copy = dup(first);
	close(first);
	ck_assert_int_eq(keep("dd", ROOT, 100), -ENOSPC);
	close(copy);
	ck_assert_int_eq(keep("dd", ROOT, 100), 0);
	ck_assert(!has("aa"));
	ck_assert_uint_eq(stats().bytes, 600);
	close(second);
}
END_TEST

static void write_file(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/files/%s", folder, name);
	FILE *file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fclose(file);
}

/* The timestamps of files are coarser than clocks. */
static void let_time_pass(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
}

START_TEST(opened_again)
{
	ck_assert_int_eq(keep("aa", ROOT, 300), 0);
	ck_assert_int_eq(keep("bb", ALICE, 300), 0);
	let_time_pass();
	ck_assert_int_eq(keep("cc", ROOT, 300), 0);
	let_time_pass();
	ck_assert(has("aa"));
	cache_free(cache);
	cache = NULL;
	write_file(".new");
	write_file("bb.007");
	write_file("zz.0");
	write_file("dd");
	ck_assert_int_eq(cache_open(folder, 700, &cache), 0);
	ck_assert(has("aa"));
	ck_assert(!has("bb"));
	ck_assert(has("cc"));
	ck_assert_uint_eq(stats().bytes, 600);
	ck_assert_uint_eq(count_files(), 2);
}
END_TEST

START_TEST(cleared_away)
{
	char command[128];

	ck_assert_int_eq(keep("aa", ROOT, 300), 0);
	snprintf(command, sizeof(command), "rm %s/files/aa.0", folder);
	ck_assert_int_eq(system(command), 0);
	ck_assert(!has("aa"));
	ck_assert_uint_eq(stats().bytes, 0);
}
END_TEST

START_TEST(no_folder)
{
	struct cache *other = NULL;

	ck_assert_int_eq(cache_open("/nonexistent/folder", 1, &other), -ENOENT);
	ck_assert_int_eq(cache_open("/dev/null", 1, &other), -ENOTDIR);
	ck_assert_ptr_null(other);
}
END_TEST

Suite *fetch_cache_suite(void)
{
	Suite *suite = suite_create("fetch_cache");
	TCase *tcase = tcase_create("all");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, least_recently_used);
	tcase_add_test(tcase, same_again);
	tcase_add_test(tcase, half_for_each);
	tcase_add_test(tcase, in_use);
	tcase_add_test(tcase, opened_again);
	tcase_add_test(tcase, cleared_away);
	tcase_add_test(tcase, no_folder);
	suite_add_tcase(suite, tcase);
	return suite;
}
