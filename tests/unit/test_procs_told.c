/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Notifications about processes that change, and what is dropped when there are too many processes.
 */
#include "tests/unit/suites.h"

#include "base/accounts.h"
#include "base/bounds.h"
#include "proc/owner.h"
#include "proc/proc.h"
#include "tests/unit/lacks.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Above the kernel's default limit: no process has them. */
enum { PARENT = 4000001, CHILD = 4000002, FIRST = 4100000 };

static const struct file_key no_file;
static struct store *store;
static struct procs *procs;
static uint32_t told, last;
static struct procs_watcher watcher;

static void note(uint32_t pid, void *ctx)
{
	(void)ctx;
	told++;
	last = pid;
}

static void set_up(void)
{
	store = store_new(16);
	procs = procs_new(store);
	ck_assert_ptr_nonnull(procs);
	procs_exec(procs, PARENT, "parent", 100);
	procs_mmap(procs, PARENT, 0x1000, 0x2000, 0, &no_file, "[parent]");
	watcher = (struct procs_watcher){.fn = note};
	procs_watch(procs, &watcher);
	told = 0;
}

static void tear_down(void)
{
	procs_unwatch(procs, &watcher);
	procs_free(procs);
	store_free(store);
}

START_TEST(one_that_came_and_went_is_not_told_of)
{
	procs_begin(procs);
	procs_fork(procs, PARENT, CHILD, 200);
	procs_exec(procs, CHILD, "child", 210);
	procs_mmap(procs, CHILD, 0x1000, 0x2000, 0, &no_file, "[child]");
	procs_exit(procs, CHILD, CHILD, 220);
	procs_end(procs);
	ck_assert_uint_eq(told, 0);
	/* Everything about the process stays known for as long as it may be asked for. */
	ck_assert_str_eq(procs_image(procs, CHILD, 205)->comm, "parent");
	ck_assert_str_eq(procs_image(procs, CHILD, 215)->comm, "child");
	ck_assert_str_eq(mapping_set_find(procs_image(procs, CHILD, 215)->set, 0x1000)->path,
	                 "[child]");
	ck_assert_uint_eq(procs_parent(procs, CHILD), PARENT);
	procs_expire(procs, 221);
	ck_assert(!procs_known(procs, CHILD));
	ck_assert_uint_eq(told, 0);
}
END_TEST

START_TEST(one_that_stays_is_told_of_once)
{
	procs_begin(procs);
	procs_fork(procs, PARENT, CHILD, 200);
	procs_exec(procs, CHILD, "child", 210);
	procs_mmap(procs, CHILD, 0x1000, 0x2000, 0, &no_file, "[child]");
	ck_assert_uint_eq(told, 0);
	procs_end(procs);
	ck_assert_uint_eq(told, 1);
	ck_assert_uint_eq(last, CHILD);
	/* A listener therefore learns that the process ended, and that it is forgotten. */
	procs_begin(procs);
	procs_exit(procs, CHILD, CHILD, 300);
	procs_end(procs);
	ck_assert_uint_eq(told, 2);
	procs_expire(procs, 301);
	ck_assert_uint_eq(told, 3);
	ck_assert_uint_eq(last, CHILD);
}
END_TEST

START_TEST(one_whose_threads_live_on_is_told_of)
{
	procs_begin(procs);
	procs_fork(procs, PARENT, CHILD, 200);
	procs_thread(procs, CHILD);
	procs_exit(procs, CHILD, CHILD, 220);
	procs_end(procs);
	ck_assert_uint_eq(told, 1);
}
END_TEST

START_TEST(a_pid_that_is_used_again_is_told_of)
{
	procs_fork(procs, PARENT, CHILD, 200);
	procs_exit(procs, CHILD, CHILD, 210);
	told = 0;
	procs_begin(procs);
	procs_fork(procs, PARENT, CHILD, 220);
	procs_exit(procs, CHILD, CHILD, 230);
	procs_end(procs);
	ck_assert_uint_eq(told, 1);
}
END_TEST

START_TEST(otherwise_it_is_told_at_once)
{
	procs_fork(procs, PARENT, CHILD, 200);
	ck_assert_uint_eq(told, 1);
	procs_exit(procs, CHILD, CHILD, 220);
	ck_assert_uint_eq(told, 2);
}
END_TEST

START_TEST(those_that_ended_give_way)
{
	struct proc_stats stats;

	for (uint32_t i = 0; i < MAX_PROCESSES - 1; i++) {
		procs_fork(procs, PARENT, FIRST + i, 200 + i);
		procs_exit(procs, FIRST + i, FIRST + i, 200 + i);
	}
	procs_get_stats(procs, &stats);
	ck_assert_uint_eq(stats.processes, MAX_PROCESSES);
	ck_assert_uint_eq(stats.dropped, 0);
	procs_fork(procs, PARENT, CHILD, 200 + MAX_PROCESSES);
	ck_assert(procs_known(procs, CHILD));
	ck_assert(!procs_known(procs, FIRST));
	ck_assert(procs_known(procs, FIRST + 1));
	ck_assert(procs_known(procs, PARENT));
	procs_get_stats(procs, &stats);
	ck_assert_uint_eq(stats.processes, MAX_PROCESSES);
	ck_assert_uint_eq(stats.dropped, 1);
	/* A new process may be a copy of the oldest one, which is dropped for it. */
	procs_fork(procs, FIRST + 1, CHILD + 1, 201 + MAX_PROCESSES);
	ck_assert(!procs_known(procs, FIRST + 1));
	ck_assert_str_eq(procs_image(procs, CHILD + 1, UINT64_MAX)->comm, "parent");
	ck_assert_uint_eq(procs_parent(procs, CHILD + 1), FIRST + 1);
}
END_TEST

/* A program that forks as often as it may does not keep others out of the table, nor does it push
 * out what is sampled. */
START_TEST(those_that_live_give_way_if_they_are_not_asked_for)
{
	struct proc_stats stats;
	uint32_t refused = 0;

	for (uint32_t i = 0; i < MAX_PROCESSES - 1; i++)
		procs_fork(procs, PARENT, FIRST + i, 200 + i);
	/* They were all started since the last drain. */
	procs_fork(procs, PARENT, CHILD, 200 + MAX_PROCESSES);
	ck_assert(!procs_known(procs, CHILD));
	for (int drain = 0; drain < 2; drain++)
		procs_expire(procs, 100);
	for (uint32_t i = 0; i < MAX_PROCESSES; i++) {
		if (i % 1000 == 0) {
			procs_expire(procs, 100);
			ck_assert_ptr_nonnull(procs_image(procs, PARENT, UINT64_MAX));
			ck_assert_ptr_nonnull(procs_image(procs, FIRST + 7, UINT64_MAX));
		}
		procs_fork(procs, PARENT, CHILD + i, 300 + MAX_PROCESSES);
		refused += !procs_known(procs, CHILD + i);
	}
	/* Among those that are as new, none is found. */
	ck_assert_uint_le(refused, 2);
	ck_assert(procs_known(procs, PARENT));
	ck_assert(procs_known(procs, FIRST + 7));
	procs_get_stats(procs, &stats);
	ck_assert_uint_eq(stats.processes, MAX_PROCESSES);
	ck_assert_uint_ge(stats.dropped, MAX_PROCESSES);
}
END_TEST

static pid_t start_as(uint32_t user)
{
	pid_t pid = fork();

	if (!pid) {
		if (setresuid(user, user, user))
			_exit(1);
		for (;;)
			pause();
	}
	procs_fork(procs, PARENT, (uint32_t)pid, 200);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static uint32_t owner_of(pid_t pid)
{
	return owner_read((uint32_t)pid);
}

/* Those of whoever has most processes give way first, though others were asked for as long ago. */
START_TEST(whoever_has_most_gives_way)
{
	enum { OF_NOBODY = 6, NOBODY = 65534, GIVE_WAY = 3 };
	pid_t roots[2], others[OF_NOBODY];
	uint32_t left = 0, gone = 0;

	if (host_lacks(!geteuid(), "root"))
		return;
	roots[0] = start_as(0);
	for (int i = 0; i < OF_NOBODY; i++)
		others[i] = start_as(NOBODY);
	roots[1] = start_as(0);
	/* The kernel changes the users of a process before setresuid() returns in it. */
	for (int i = 0; i < OF_NOBODY; i++) {
		for (int ms = 0; ms < 10000 && owner_of(others[i]) != account_of(NOBODY); ms++)
			usleep(1000);
		ck_assert_uint_eq(owner_of(others[i]), account_of(NOBODY));
	}
	for (uint32_t i = 0; i < MAX_PROCESSES - 1 - OF_NOBODY - 2; i++)
		procs_fork(procs, PARENT, FIRST + i, 200 + i);
	/* The first to give way shows who has most. Each drain looks at a part of the table. */
	for (int drain = 0; drain < 500 && gone <= GIVE_WAY; drain++) {
		procs_expire(procs, 100);
		procs_image(procs, PARENT, UINT64_MAX);
		for (uint32_t i = 0; i < MAX_PROCESSES - 1 - OF_NOBODY - 2; i++)
			procs_image(procs, FIRST + i, UINT64_MAX);
		if (drain >= 2)
			procs_fork(procs, PARENT, CHILD + gone, 300);
		gone += procs_known(procs, CHILD + gone);
	}
	for (int i = 0; i < OF_NOBODY; i++)
		left += procs_known(procs, (uint32_t)others[i]);
	ck_assert_uint_eq(left, OF_NOBODY - GIVE_WAY);
	ck_assert_int_eq(
		procs_known(procs, (uint32_t)roots[0]) + procs_known(procs, (uint32_t)roots[1]), 1);
	for (int i = 0; i < OF_NOBODY; i++)
		end(others[i]);
	for (int i = 0; i < 2; i++)
		end(roots[i]);
}
END_TEST

/* Each pid is soon used again, so that no pid is unused for long. */
static struct proc_stats storm(uint32_t forks, uint64_t drain_every)
{
	struct proc_stats stats;

	for (uint32_t i = 0; i < forks; i++) {
		procs_fork(procs, PARENT, FIRST + i % 1000, 200 + i);
		procs_exit(procs, FIRST + i % 1000, FIRST + i % 1000, 200 + i);
		if (i > 5000 && i % drain_every == 0)
			procs_expire(procs, 200 + i - 5000);
	}
	procs_get_stats(procs, &stats);
	return stats;
}

START_TEST(programs_of_pids_that_are_used_again_are_forgotten)
{
	struct proc_stats stats = storm(100000, 500);

	ck_assert_uint_le(stats.images, 8000);
	ck_assert_uint_eq(stats.dropped, 0);
	/* Programs that may still be asked for are kept. */
	ck_assert_uint_eq(procs_image(procs, FIRST, 96300)->start_mono_ns, 96200);
	ck_assert_ptr_null(procs_image(procs, FIRST, 50000));
}
END_TEST

START_TEST(programs_have_a_bound)
{
	struct proc_stats stats = storm(MAX_IMAGES + 50000, UINT64_MAX);
	uint32_t forgotten = 0;

	ck_assert_uint_le(stats.images, MAX_IMAGES + 1);
	ck_assert_uint_gt(stats.dropped, 0);
	/* A program of another time is never returned. */
	for (uint32_t i = 0; i < 1000; i++) {
		const struct image *image = procs_image(procs, FIRST + i, 200 + i);

		forgotten += !image;
		ck_assert(!image || image->start_mono_ns == 200 + i);
		ck_assert_ptr_nonnull(procs_image(procs, FIRST + i, UINT64_MAX));
	}
	ck_assert_uint_gt(forgotten, 0);
}
END_TEST

START_TEST(who_has_the_pid_of_a_parent_is_not_taken_for_it)
{
	procs_fork(procs, PARENT, CHILD, 200);
	procs_fork(procs, CHILD, CHILD + 1, 210);
	procs_exit(procs, CHILD, CHILD, 220);
	procs_expire(procs, 225);
	procs_exit(procs, CHILD + 1, CHILD + 1, 230);
	ck_assert_ptr_nonnull(procs_image(procs, (uint32_t)getpid(), UINT64_MAX));
	procs_fork(procs, (uint32_t)getpid(), CHILD, 250);
	ck_assert_ptr_null(procs_identity(procs, CHILD + 1, 215));
}
END_TEST

Suite *procs_told_suite(void)
{
	Suite *suite = suite_create("procs_told");
	TCase *tests = tcase_create("watchers");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, one_that_came_and_went_is_not_told_of);
	tcase_add_test(tests, one_that_stays_is_told_of_once);
	tcase_add_test(tests, one_whose_threads_live_on_is_told_of);
	tcase_add_test(tests, a_pid_that_is_used_again_is_told_of);
	tcase_add_test(tests, otherwise_it_is_told_at_once);
	tcase_add_test(tests, those_that_ended_give_way);
	tcase_add_test(tests, those_that_live_give_way_if_they_are_not_asked_for);
	tcase_add_test(tests, whoever_has_most_gives_way);
	tcase_add_test(tests, programs_of_pids_that_are_used_again_are_forgotten);
	tcase_add_test(tests, programs_have_a_bound);
	tcase_add_test(tests, who_has_the_pid_of_a_parent_is_not_taken_for_it);
	suite_add_tcase(suite, tests);
	return suite;
}
