/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The control group that profd has for itself: its members, and its memory, in both versions.
 */
#include "tests/unit/suites.h"

#include "memory/own_group.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const pid_t ours[] = {100, 7, 4194304};
enum { OURS = sizeof(ours) / sizeof(ours[0]) };

START_TEST(members)
{
	static const struct {
		const char *text;
		bool own;
	} cases[] = {
		{"100\n", true},     {"7\n100\n4194304\n", true},
		{"100\n7", true},    {"100\n101\n", false},
		{"100\n0\n", false}, /* a process of another pid namespace */
		{"0\n", false},      {"", false},
		{"\n", false},       {"100 \n", false},
		{"-7\n", false},     {"100\n18446744073709551716\n", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_msg(own_group_parse_members(cases[i].text, strlen(cases[i].text), ours,
		                                      OURS) == cases[i].own,
		              "case %zu", i);
}
END_TEST

/* The child started after the list of pids was made. */
START_TEST(a_child)
{
	char text[64];
	pid_t child = fork();

	if (!child) {
		pause();
		_exit(0);
	}
	snprintf(text, sizeof(text), "100\n%d\n", (int)child);
	ck_assert(own_group_parse_members(text, strlen(text), ours, OURS));
	snprintf(text, sizeof(text), "100\n%d\n", (int)getppid());
	ck_assert(!own_group_parse_members(text, strlen(text), ours, OURS));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}
END_TEST

START_TEST(kernel_part)
{
	static const char text[] = "anon 4096\nkernel_stack 16384\nkernel 81920\nslab 5\n";
	static const char older[] = "anon 4096\nkernel_stack 16384\n";
	static const char broken[] = "kernel many\n";
	uint64_t bytes;

	ck_assert_int_eq(own_group_parse_kernel(text, strlen(text), &bytes), 0);
	ck_assert_uint_eq(bytes, 81920);
	ck_assert_int_eq(own_group_parse_kernel(older, strlen(older), &bytes), -ENOENT);
	ck_assert_int_eq(own_group_parse_kernel(broken, strlen(broken), &bytes), -EINVAL);
}
END_TEST

static char root[32];

static void write_file(const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static void make_root(void)
{
	strcpy(root, "/tmp/profd-own-group-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	write_file("cgroup.procs", "7\n100\n");
}

static void remove_root(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", root);
	ck_assert_int_eq(system(command), 0);
}

static int read_root(unsigned int version, struct own_group_usage *ret_usage)
{
	struct control_group_mount mount = {version, "/", ""};

	strcpy(mount.point, root);
	return own_group_read_at(&mount, "/", ours, OURS, ret_usage);
}

START_TEST(second_version)
{
	struct own_group_usage usage;

	write_file("memory.current", "123456\n");
	write_file("memory.stat", "anon 1\nkernel 3456\n");
	ck_assert_int_eq(read_root(2, &usage), 0);
	ck_assert_uint_eq(usage.bytes, 123456);
	ck_assert_uint_eq(usage.kernel_bytes, 3456);
	write_file("memory.stat", "anon 1\n");
	ck_assert_int_eq(read_root(2, &usage), 0);
	ck_assert(usage.kernel_bytes == OWN_GROUP_UNKNOWN);
}
END_TEST

START_TEST(first_version)
{
	struct own_group_usage usage;

	ck_assert_int_eq(read_root(1, &usage), -ENOENT);
	write_file("memory.usage_in_bytes", "123456\n");
	write_file("memory.kmem.usage_in_bytes", "23456\n");
	ck_assert_int_eq(read_root(1, &usage), 0);
	ck_assert_uint_eq(usage.bytes, 123456);
	ck_assert_uint_eq(usage.kernel_bytes, 23456);
}
END_TEST

START_TEST(others_are_in_it)
{
	struct own_group_usage usage;

	write_file("memory.current", "123456\n");
	write_file("cgroup.procs", "7\n100\n101\n");
	ck_assert_int_eq(read_root(2, &usage), -ENOENT);
}
END_TEST

Suite *own_group_suite(void)
{
	Suite *suite = suite_create("own_group");
	TCase *texts = tcase_create("texts"), *files = tcase_create("files");

	tcase_add_test(texts, members);
	tcase_add_test(texts, a_child);
	tcase_add_test(texts, kernel_part);
	suite_add_tcase(suite, texts);
	tcase_add_checked_fixture(files, make_root, remove_root);
	tcase_add_test(files, second_version);
	tcase_add_test(files, first_version);
	tcase_add_test(files, others_are_in_it);
	suite_add_tcase(suite, files);
	return suite;
}
