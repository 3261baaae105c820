/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which processes map a file, and which inodes are the same file, within bounds that a process
 * cannot exceed by its mappings.
 */
#include "probes/file_inode.h"
#include "probes/file_seen.h"
#include "probes/file_users.h"

#include "tests/unit/suites.h"

#include <errno.h>

enum { OWNER = 1000 };

static struct file_users users;
static struct file_used one, other;

static void set_up(void)
{
	file_users_init(&users);
	one = other = (struct file_used){0};
}

static void tear_down(void)
{
	file_users_release(&users);
}

static struct proc_mapping mapping_at(uint64_t start, uint32_t object)
{
	return (struct proc_mapping){.start = start, .end = start + 4096, .object = object};
}

START_TEST(a_process_counts_once)
{
	const struct proc_mapping first = mapping_at(0x1000, 7), second = mapping_at(0x2000, 7);

	ck_assert_int_eq(file_users_set(&users, 1, OWNER, &first, &one), 0);
	ck_assert_ptr_eq(file_users_find(&users, 1, &first), &one);
	ck_assert_ptr_null(file_users_find(&users, 2, &first));
	ck_assert_ptr_null(file_users_find(&users, 1, &second));
	ck_assert_int_eq(file_users_set(&users, 1, OWNER, &second, &other), 0);
	ck_assert_ptr_null(file_users_find(&users, 1, &first));
	ck_assert_ptr_eq(file_users_find(&users, 1, &second), &other);
	ck_assert_uint_eq(one.users, 0);
	ck_assert_uint_eq(other.users, 1);
}
END_TEST

START_TEST(users_are_forgotten)
{
	const struct proc_mapping mapping = mapping_at(0x1000, 7);

	for (uint32_t pid = 1; pid <= 10; pid++)
		ck_assert_int_eq(
			file_users_set(&users, pid, OWNER, &mapping, pid % 2 ? &one : &other), 0);
	file_users_forget(&users, &one);
	ck_assert_uint_eq(one.users, 0);
	ck_assert_uint_eq(other.users, 5);
	ck_assert_ptr_null(file_users_find(&users, 1, &mapping));
	ck_assert_ptr_eq(file_users_find(&users, 2, &mapping), &other);
}
END_TEST

START_TEST(users_are_bounded)
{
	const struct proc_mapping mapping = mapping_at(0x1000, 7);
	const uint32_t share = MAX_FILE_USERS / 2;

	for (uint32_t pid = 1; pid <= share; pid++)
		ck_assert_int_eq(file_users_set(&users, pid, OWNER, &mapping, &one), 0);
	ck_assert_int_eq(file_users_set(&users, share + 1, OWNER, &mapping, &one), -ENOSPC);
	ck_assert_int_eq(file_users_set(&users, 1, OWNER, &mapping, &other), 0);
	ck_assert_uint_eq(one.users, share - 1);
	/* There is room for other users, and for this user after some of its entries are gone. */
	ck_assert_int_eq(file_users_set(&users, share + 1, OWNER + 1, &mapping, &one), 0);
	file_users_forget(&users, &other);
	file_users_forget(&users, &one);
	ck_assert_int_eq(file_users_set(&users, share + 1, OWNER, &mapping, &one), 0);
}
END_TEST

START_TEST(who_is_gone_is_no_user)
{
	const struct proc_mapping mapping = mapping_at(0x1000, 0);
	static const struct file_key no_file;
	struct store *store = store_new(16);
	struct procs *procs = procs_new(store);
	uint32_t pid = 4000001; /* no process has it */

	procs_exec(procs, pid, "user", 100);
	procs_mmap(procs, pid, 0x1000, 0x2000, 0, &no_file, "[file]");
	ck_assert_int_eq(file_users_set(&users, pid, OWNER, &mapping, &one), 0);
	file_users_update(&users, procs);
	ck_assert_uint_eq(one.users, 1);
	procs_exec(procs, pid, "another", 200);
	file_users_update(&users, procs);
	ck_assert_uint_eq(one.users, 0);
	procs_free(procs);
	store_free(store);
}
END_TEST

START_TEST(a_look_is_bounded)
{
	struct file_seen seen = {0};
	struct proc_mapping mapping = mapping_at(0x1000, 0);

	ck_assert(!file_seen_is_new(&seen, &mapping));
	for (mapping.object = 1; mapping.object <= MAX_FILES_SEEN; mapping.object++) {
		ck_assert(file_seen_is_new(&seen, &mapping));
		ck_assert(file_seen_use(&seen, &mapping));
		ck_assert(!file_seen_is_new(&seen, &mapping));
	}
	ck_assert(!file_seen_use(&seen, &mapping));
	mapping.object = 1;
	ck_assert(!file_seen_is_new(&seen, &mapping));
}
END_TEST

START_TEST(a_forged_inode_is_another)
{
	const struct file_inode real = {.stat = {.st_dev = 1, .st_ino = 5, .st_size = 9}};
	struct file_inode forged = real;

	ck_assert(file_inode_is_same(&real, &forged));
	forged.stat.st_dev = 2;
	ck_assert(!file_inode_is_same(&real, &forged));
	forged.overlay = true;
	ck_assert(!file_inode_is_same(&real, &forged));
	ck_assert(!file_inode_is_same(&forged, &real));
}
END_TEST

START_TEST(overlays_of_one_file_are_the_same)
{
	const struct file_inode a = {.stat = {.st_dev = 1, .st_ino = 5, .st_size = 9},
	                             .overlay = true};
	struct file_inode b = a;

	b.stat.st_dev = 2;
	ck_assert(file_inode_is_same(&a, &b));
	b.stat.st_mtim.tv_nsec = 1;
	ck_assert(!file_inode_is_same(&a, &b));
}
END_TEST

Suite *file_users_suite(void)
{
	Suite *suite = suite_create("file_users");
	TCase *tcase = tcase_create("file_users");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, a_process_counts_once);
	tcase_add_test(tcase, users_are_forgotten);
	tcase_add_test(tcase, users_are_bounded);
	tcase_add_test(tcase, who_is_gone_is_no_user);
	tcase_add_test(tcase, a_look_is_bounded);
	tcase_add_test(tcase, a_forged_inode_is_another);
	tcase_add_test(tcase, overlays_of_one_file_are_the_same);
	suite_add_tcase(suite, tcase);
	return suite;
}
