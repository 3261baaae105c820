/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Control groups of both versions, read from a tree of files like the kernel's.
 */
#include "tests/unit/suites.h"

#include "base/cleanup.h"
#include "memory/control_group.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char unified[] = "22 1 0:20 / /proc rw - proc proc rw\n"
			      "30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 "
			      "rw,nsdelegate\n";
static const char hybrid[] = "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
			     "34 31 0:31 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
			     "35 31 0:32 /docker /sys/fs/cgroup/memory rw - cgroup cgroup "
			     "rw,memory\n";

START_TEST(finds_the_mount)
{
	struct control_group_mount mount;

	ck_assert_int_eq(control_group_parse_mounts(unified, strlen(unified), &mount), 0);
	ck_assert_uint_eq(mount.version, 2);
	ck_assert_str_eq(mount.point, "/sys/fs/cgroup");
	ck_assert_int_eq(control_group_parse_mounts(hybrid, strlen(hybrid), &mount), 0);
	ck_assert_uint_eq(mount.version, 1);
	ck_assert_str_eq(mount.point, "/sys/fs/cgroup/memory");
	ck_assert_str_eq(mount.root, "/docker");
	ck_assert_int_eq(control_group_parse_mounts("1 2 3\n", 6, &mount), -ENOENT);
}
END_TEST

static int path_of(const char *text, const struct control_group_mount *mount, char *path)
{
	return control_group_parse_path(text, strlen(text), mount, path);
}

START_TEST(finds_the_path)
{
	static const char both[] = "4:memory,hugetlb:/docker/abc:d\n0::/user.slice\n";
	struct control_group_mount one = {1, "/", "/m"}, two = {2, "/", "/m"};
	struct control_group_mount inner = {1, "/docker", "/m"}, other = {1, "/dock", "/m"};
	char path[MAX_PATH_BYTES];

	ck_assert_int_eq(path_of(both, &one, path), 0);
	ck_assert_str_eq(path, "/docker/abc:d");
	ck_assert_int_eq(path_of(both, &two, path), 0);
	ck_assert_str_eq(path, "/user.slice");
	ck_assert_int_eq(path_of(both, &inner, path), 0);
	ck_assert_str_eq(path, "/abc:d");
	ck_assert_int_eq(path_of(both, &other, path), -ENOENT);
	ck_assert_int_eq(path_of("4:memory:/docker\n", &inner, path), 0);
	ck_assert_str_eq(path, "/");
	ck_assert_int_eq(path_of("4:memory:/../../etc\n", &one, path), -ENOENT);
	ck_assert_int_eq(path_of("3:memoryless:/a\n", &one, path), -ENOENT);
	ck_assert_int_eq(path_of("5:cpu:/a\n", &two, path), -ENOENT);
}
END_TEST

START_TEST(reads_limits)
{
	uint64_t limit;

	ck_assert_int_eq(control_group_parse_limit("max\n", 4, &limit), 0);
	ck_assert(limit == CONTROL_GROUP_NO_LIMIT);
	ck_assert_int_eq(control_group_parse_limit("9223372036854771712\n", 20, &limit), 0);
	ck_assert(limit == CONTROL_GROUP_NO_LIMIT);
	ck_assert_int_eq(control_group_parse_limit("67108864\n", 9, &limit), 0);
	ck_assert_uint_eq(limit, 67108864);
	ck_assert_int_eq(control_group_parse_limit("6710 8864\n", 10, &limit), -EINVAL);
	ck_assert_int_eq(control_group_parse_limit("", 0, &limit), -EINVAL);
}
END_TEST

START_TEST(reads_page_cache)
{
	static const char one[] = "inactive_file 1\nactive_file 2\ntotal_inactive_file 30\n"
				  "total_active_file 40\n";
	static const char two[] = "anon 7\nactive_file 2\ninactive_file 1\n";

	ck_assert_uint_eq(control_group_parse_file(one, strlen(one)), 70);
	ck_assert_uint_eq(control_group_parse_file(two, strlen(two)), 3);
	ck_assert_uint_eq(control_group_parse_file("", 0), 0);
}
END_TEST

START_TEST(page_cache_is_not_near)
{
	struct control_group_usage usage = {.bytes = 990, .limit_bytes = 1000};

	ck_assert(control_group_near(&usage, 95));
	usage.file_bytes = 100;
	ck_assert(!control_group_near(&usage, 95));
	usage.limit_bytes = CONTROL_GROUP_NO_LIMIT;
	ck_assert(!control_group_near(&usage, 0));
}
END_TEST

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

START_TEST(the_innermost_limit_counts)
{
	struct control_group_mount mount = {2, "/", ""};
	char root[] = "/tmp/profd-groups-XXXXXX", inner[128], outer[128], path[MAX_PATH_BYTES];
	char command[256];
	struct control_group_usage usage;

	ck_assert_ptr_nonnull(mkdtemp(root));
	snprintf(mount.point, sizeof(mount.point), "%s", root);
	snprintf(outer, sizeof(outer), "%s/pod", root);
	snprintf(inner, sizeof(inner), "%s/pod/leaf", root);
	mkdir(outer, 0700);
	mkdir(inner, 0700);
	write_file(outer, "memory.current", "970\n");
	write_file(outer, "memory.max", "1000\n");
	write_file(outer, "memory.stat", "inactive_file 10\nactive_file 5\n");
	write_file(inner, "memory.current", "500\n");
	write_file(inner, "memory.max", "max\n");

	strcpy(path, "/pod/leaf");
	ck_assert_int_eq(control_group_read(&mount, path, &usage), 0);
	ck_assert_str_eq(path, "/pod");
	ck_assert_uint_eq(usage.bytes, 970);
	ck_assert_uint_eq(usage.limit_bytes, 1000);
	ck_assert_uint_eq(usage.file_bytes, 15);

	write_file(outer, "memory.max", "max\n");
	strcpy(path, "/pod/leaf");
	ck_assert_int_eq(control_group_read(&mount, path, &usage), 0);
	ck_assert_str_eq(path, "/pod/leaf");
	ck_assert_uint_eq(usage.bytes, 500);
	ck_assert(usage.limit_bytes == CONTROL_GROUP_NO_LIMIT);

	strcpy(path, "/gone");
	ck_assert_int_eq(control_group_read(&mount, path, &usage), -ENOENT);
	snprintf(command, sizeof(command), "rm -r %s", root);
	ck_assert_int_eq(system(command), 0);
}
END_TEST

Suite *control_group_suite(void)
{
	Suite *suite = suite_create("control_group");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, finds_the_mount);
	tcase_add_test(tests, finds_the_path);
	tcase_add_test(tests, reads_limits);
	tcase_add_test(tests, reads_page_cache);
	tcase_add_test(tests, page_cache_is_not_near);
	tcase_add_test(tests, the_innermost_limit_counts);
	suite_add_tcase(suite, tests);
	return suite;
}
