/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The process table: which program and which mapping was where at a given time.
 */
#include "tests/unit/child.h"
#include "tests/unit/suites.h"

#include "base/bounds.h"
#include "proc/parent.h"
#include "proc/proc.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PID = 4000001, CHILD = 4000002 }; /* above the kernel's default limit: no process has them */

static const struct file_key no_file;
static struct store *store;
static struct procs *procs;

static void set_up(void)
{
	store = store_new(16);
	procs = procs_new(store);
	ck_assert_ptr_nonnull(procs);
}

static void tear_down(void)
{
	procs_free(procs);
	store_free(store);
}

static const struct proc_mapping *find_at(uint32_t pid, uint64_t time, uint64_t address)
{
	const struct image *image = procs_image(procs, pid, time);

	ck_assert_ptr_nonnull(image);
	return mapping_set_find(image->set, address);
}

START_TEST(exec_starts_a_new_program)
{
	procs_exec(procs, PID, "first", 100);
	procs_mmap(procs, PID, 0x1000, 0x2000, 0, &no_file, "[one]");
	procs_exec(procs, PID, "second", 200);
	procs_mmap(procs, PID, 0x1000, 0x2000, 0, &no_file, "[two]");
	ck_assert_str_eq(find_at(PID, 150, 0x1800)->path, "[one]");
	ck_assert_str_eq(procs_image(procs, PID, 150)->comm, "first");
	ck_assert_str_eq(find_at(PID, 200, 0x1800)->path, "[two]");
	ck_assert_str_eq(procs_image(procs, PID, 999)->comm, "second");
	/* For a time before the first program, the oldest program is the best guess. */
	ck_assert_str_eq(procs_image(procs, PID, 1)->comm, "first");
}
END_TEST

START_TEST(a_reused_pid_is_another_program)
{
	procs_exec(procs, PID, "old", 100);
	procs_mmap(procs, PID, 0x1000, 0x2000, 0, &no_file, "[old]");
	procs_exit(procs, PID, PID, 150);
	procs_exec(procs, CHILD, "parent", 100);
	procs_mmap(procs, CHILD, 0x5000, 0x6000, 0, &no_file, "[parent]");
	procs_fork(procs, CHILD, PID, 200);
	ck_assert_str_eq(procs_image(procs, PID, 149)->comm, "old");
	ck_assert_str_eq(procs_image(procs, PID, 201)->comm, "parent");
	ck_assert_ptr_null(find_at(PID, 201, 0x1000));
	ck_assert_str_eq(find_at(PID, 201, 0x5000)->path, "[parent]");
}
END_TEST

START_TEST(a_child_shares_and_then_differs)
{
	procs_exec(procs, PID, "parent", 100);
	procs_mmap(procs, PID, 0x1000, 0x2000, 0, &no_file, "[shared]");
	procs_fork(procs, PID, CHILD, 200);
	procs_mmap(procs, CHILD, 0x1000, 0x2000, 0, &no_file, "[own]");
	ck_assert_str_eq(find_at(PID, 300, 0x1000)->path, "[shared]");
	ck_assert_str_eq(find_at(CHILD, 300, 0x1000)->path, "[own]");
	procs_comm(procs, CHILD, CHILD + 1, "thread"); /* a thread's name is not the process's */
	ck_assert_str_eq(procs_image(procs, CHILD, 300)->comm, "parent");
	procs_comm(procs, CHILD, CHILD, "renamed");
	ck_assert_str_eq(procs_image(procs, CHILD, 300)->comm, "renamed");
	ck_assert_str_eq(procs_image(procs, PID, 300)->comm, "parent");
}
END_TEST

START_TEST(a_mapping_cuts_what_it_covers)
{
	procs_exec(procs, PID, "x", 1);
	procs_mmap(procs, PID, 0x10000, 0x20000, 0x5000, &no_file, "[a]");
	procs_mmap(procs, PID, 0x14000, 0x16000, 0, &no_file, "[b]");
	ck_assert_str_eq(find_at(PID, 2, 0x13fff)->path, "[a]");
	ck_assert_str_eq(find_at(PID, 2, 0x14000)->path, "[b]");
	ck_assert_str_eq(find_at(PID, 2, 0x16000)->path, "[a]");
	ck_assert_uint_eq(find_at(PID, 2, 0x16000)->offset, 0x5000 + 0x6000);
	ck_assert_ptr_null(find_at(PID, 2, 0x20000));
	procs_mmap(procs, PID, 0x0f000, 0x21000, 0, &no_file, "[all]");
	ck_assert_uint_eq(mapping_set_count(procs_image(procs, PID, 2)->set), 1);
	/* Empty and reversed ranges change nothing. */
	procs_mmap(procs, PID, 0x3000, 0x3000, 0, &no_file, "[empty]");
	procs_mmap(procs, PID, 0x4000, 0x3000, 0, &no_file, "[backwards]");
	ck_assert_uint_eq(mapping_set_count(procs_image(procs, PID, 2)->set), 1);
}
END_TEST

START_TEST(mappings_are_bounded)
{
	struct proc_stats stats;

	procs_exec(procs, PID, "x", 1);
	for (uint64_t i = 1; i <= MAX_MAPPINGS + 10; i++)
		procs_mmap(procs, PID, i * 0x2000, i * 0x2000 + 0x1000, 0, &no_file, "//anon");
	procs_get_stats(procs, &stats);
	ck_assert_uint_eq(stats.mappings, MAX_MAPPINGS);
	ck_assert_uint_eq(stats.dropped, 10);
	ck_assert_str_eq(find_at(PID, 2, 0x2000)->path, "");
}
END_TEST

START_TEST(what_ended_expires)
{
	struct proc_stats stats;

	procs_exec(procs, PID, "first", 100);
	procs_exec(procs, PID, "second", 200);
	procs_expire(procs, 150);
	procs_get_stats(procs, &stats);
	ck_assert_uint_eq(stats.images, 2);
	procs_expire(procs, 201);
	procs_get_stats(procs, &stats);
	ck_assert_uint_eq(stats.images, 1);
	procs_exit(procs, PID, PID + 1, 300); /* a thread */
	procs_expire(procs, 1000);
	ck_assert(procs_known(procs, PID));
	procs_exit(procs, PID, PID, 300);
	procs_expire(procs, 300);
	ck_assert(procs_known(procs, PID));
	procs_expire(procs, 301);
	ck_assert(!procs_known(procs, PID));
	ck_assert_ptr_null(procs_image(procs, PID, 300));
}
END_TEST

static void count_self(const struct proc *proc, void *ctx)
{
	if (proc->pid == (uint32_t)getpid() && proc->comm[0])
		*(int *)ctx += 1;
}

START_TEST(finds_itself_in_proc)
{
	uint32_t self = (uint32_t)getpid();
	const struct proc_mapping *mapped;
	int seen = 0;

	ck_assert_int_eq(procs_scan(procs), 0);
	mapped = find_at(self, 1, (uint64_t)(uintptr_t)&procs_suite);
	ck_assert_ptr_nonnull(mapped);
	ck_assert_uint_ne(mapped->object, 0);
	ck_assert_ptr_nonnull(strstr(mapped->path, "unit"));
	procs_each(procs, count_self, &seen);
	ck_assert_int_eq(seen, 1);
	/* A second scan replaces the mappings and does not add to them. */
	ck_assert_int_eq(procs_scan(procs), 0);
	ck_assert_ptr_nonnull(find_at(self, 1, (uint64_t)(uintptr_t)&procs_suite));
}
END_TEST

/* A name is read in full, not only up to the end of a line. */
START_TEST(reads_any_name)
{
	static const char *const names[] = {"a\nb", "a\n", "\n", "", "fifteen_letters"};
	uint32_t self = (uint32_t)getpid();

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ck_assert_int_eq(prctl(PR_SET_NAME, names[i]), 0);
		ck_assert_int_eq(procs_scan(procs), 0);
		ck_assert_str_eq(procs_image(procs, self, 1)->comm, names[i]);
	}
}
END_TEST

START_TEST(tells_whose)
{
	uint32_t self = (uint32_t)getpid(), child = child_start();
	const struct identity *identity;

	procs_fork(procs, self, child, 100);
	ck_assert_ptr_null(procs_identity(procs, PID, 100));
	identity = procs_identity(procs, child, 100);
	ck_assert_ptr_nonnull(identity);
	/* A known identity stays, also after the process is gone, and passes through an exec. */
	child_end(child);
	ck_assert_ptr_eq(procs_identity(procs, child, 150), identity);
	procs_exec(procs, child, "other", 200);
	ck_assert(identity_equal(procs_identity(procs, child, 250), identity));
	ck_assert_ptr_eq(procs_identity(procs, child, 150), identity);
}
END_TEST

START_TEST(the_gone_are_where_their_parents_are)
{
	uint32_t self = (uint32_t)getpid();
	const struct identity *identity;

	/* None of these processes existed when it was looked up, but their first ancestor does. */
	procs_fork(procs, self, PID, 100);
	procs_fork(procs, PID, CHILD, 200);
	procs_exec(procs, CHILD, "cc1", 300);
	procs_exit(procs, CHILD, CHILD, 400);
	identity = procs_identity(procs, CHILD, 350);
	ck_assert_ptr_nonnull(identity);
	ck_assert(identity_equal(procs_identity(procs, self, 350), identity));
	/* A child of init does not get init's identity. */
	procs_fork(procs, 1, CHILD + 1, 100);
	ck_assert_ptr_null(procs_identity(procs, CHILD + 1, 150));
	/* A parent that is not known, and a process that is its own parent. */
	procs_fork(procs, CHILD + 9, CHILD + 2, 100);
	ck_assert_ptr_null(procs_identity(procs, CHILD + 2, 150));
	procs_fork(procs, CHILD + 3, CHILD + 3, 100);
	ck_assert_ptr_null(procs_identity(procs, CHILD + 3, 150));
}
END_TEST

START_TEST(knows_who_started_it)
{
	uint32_t self = (uint32_t)getpid();

	ck_assert_uint_eq(procs_parent(procs, self), 0);
	ck_assert_int_eq(procs_scan(procs), 0);
	ck_assert_uint_eq(procs_parent(procs, self), (uint32_t)getppid());
	procs_fork(procs, PID, CHILD, 100);
	ck_assert_uint_eq(procs_parent(procs, CHILD), PID);
	procs_exec(procs, CHILD, "other", 200);
	procs_exit(procs, CHILD, CHILD, 300);
	ck_assert_uint_eq(procs_parent(procs, CHILD), PID);
	/* Another process has the pid now. */
	procs_fork(procs, 1, CHILD, 400);
	ck_assert_uint_eq(procs_parent(procs, CHILD), 1);
}
END_TEST

static const struct {
	const char *text;
	uint32_t parent;
} stats[] = {
	{"12 (sh) S 7 12 12 0 -1", 7},
	{"12 (a) S 1) R 7 12", 7},
	{"12 ()) S 4194304", 4194304},
	{"12 (sh) S 0 0", 0},
	{"12 (sh) S 4294967296 0", 0},
	{"12 (sh) S 7x 0", 0},
	{"12 (sh) S -7 0", 0},
	{"12 (sh) S", 0},
	{"12 (sh)", 0},
	{"12 (sh", 0},
	{")", 0},
	{"", 0},
};

START_TEST(parses_parents)
{
	ck_assert_uint_eq(parent_parse(stats[_i].text, strlen(stats[_i].text)), stats[_i].parent);
}
END_TEST

/* The store has room for eight files of a user, and this process maps more. */
START_TEST(closed_files_are_opened_again)
{
	struct store_stats before, after, later;

	ck_assert_int_eq(procs_scan(procs), 0);
	store_get_stats(store, &before);
	ck_assert_uint_gt(before.evicted, 0);
	procs_open_again(procs, PID); /* there is no such process */
	procs_open_again(procs, (uint32_t)getpid());
	store_get_stats(store, &after);
	ck_assert_uint_gt(after.opened, before.opened);
	/* Not at once again. */
	procs_open_again(procs, (uint32_t)getpid());
	store_get_stats(store, &later);
	ck_assert_uint_eq(later.opened, after.opened);
}
END_TEST

Suite *procs_suite(void)
{
	Suite *suite = suite_create("procs");
	TCase *tests = tcase_create("table");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, exec_starts_a_new_program);
	tcase_add_test(tests, closed_files_are_opened_again);
	tcase_add_test(tests, a_reused_pid_is_another_program);
	tcase_add_test(tests, a_child_shares_and_then_differs);
	tcase_add_test(tests, a_mapping_cuts_what_it_covers);
	tcase_add_test(tests, mappings_are_bounded);
	tcase_add_test(tests, what_ended_expires);
	tcase_add_test(tests, finds_itself_in_proc);
	tcase_add_test(tests, reads_any_name);
	tcase_add_test(tests, tells_whose);
	tcase_add_test(tests, the_gone_are_where_their_parents_are);
	tcase_add_test(tests, knows_who_started_it);
	tcase_add_loop_test(tests, parses_parents, 0, sizeof(stats) / sizeof(stats[0]));
	suite_add_tcase(suite, tests);
	return suite;
}
