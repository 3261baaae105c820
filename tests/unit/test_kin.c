/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which process started which, for processes that have ended.
 */
#include "proc/kin.h"

#include "base/bounds.h"
#include "base/clock.h"
#include "proc/proc.h"
#include "tests/unit/suites.h"

static const uint64_t start_ns = 10000 * NSEC_PER_SEC;
static const uint64_t keep_ns = MAX_CAPTURE_SECONDS * NSEC_PER_SEC;

static bool knows(const struct kin *kin, uint32_t pid)
{
	for (size_t i = 0; i < kin->count; i++)
		if (kin->ended[i].pid == pid)
			return true;
	return false;
}

/* Settles while one process lives, whose parent is `parent`. */
static void settle(struct kin *kin, uint32_t parent, uint64_t now_ns)
{
	uint8_t *needed = calloc(1, KIN_NEEDED_BYTES);

	ck_assert_ptr_nonnull(needed);
	kin_need(needed, parent);
	kin_settle(kin, needed, now_ns);
	free(needed);
}

static void remember(struct kin *kin, uint32_t parent, uint32_t pid, uint64_t end_ns)
{
	kin_remember(kin, &(struct ended_process){parent, pid, end_ns});
}

START_TEST(ancestors_of_who_lives_stay)
{
	struct kin kin = {0};

	/* 10 started 11, which started 12, which started a process that lives; they ended in any
	 * order. 20 and 21 have no living descendant. 30 has just ended; 31, which ended long ago,
	 * had started it. */
	remember(&kin, 11, 12, start_ns);
	remember(&kin, 1, 10, start_ns + 1);
	remember(&kin, 1, 20, start_ns + 2);
	remember(&kin, 10, 11, start_ns + 3);
	remember(&kin, 20, 21, start_ns + 4);
	remember(&kin, 1, 31, start_ns + 5);
	settle(&kin, 12, start_ns + keep_ns);
	ck_assert_uint_eq(kin.count, 6);
	remember(&kin, 31, 30, start_ns + keep_ns);
	settle(&kin, 12, start_ns + 2 * keep_ns);
	ck_assert(knows(&kin, 10) && knows(&kin, 11) && knows(&kin, 12));
	ck_assert(knows(&kin, 30) && knows(&kin, 31));
	ck_assert(!knows(&kin, 20) && !knows(&kin, 21));
	settle(&kin, 1, start_ns + 3 * keep_ns);
	ck_assert_uint_eq(kin.count, 0);
	ck_assert_uint_eq(kin.dropped, 0);
	kin_release(&kin);
}
END_TEST

START_TEST(is_bounded)
{
	struct kin kin = {0};

	for (uint32_t i = 0; i < MAX_KIN + 7; i++)
		remember(&kin, 1, i + 2, start_ns + i);
	ck_assert_uint_eq(kin.count, MAX_KIN);
	ck_assert_uint_eq(kin.dropped, 7);
	/* The oldest entries are dropped. */
	ck_assert(kin_is_due(&kin, 0));
	settle(&kin, 1, start_ns + MAX_KIN);
	ck_assert_uint_eq(kin.count, MAX_KIN / 4 * 3);
	ck_assert_uint_eq(kin.dropped, 7 + MAX_KIN / 4);
	ck_assert(!knows(&kin, 2) && knows(&kin, MAX_KIN));
	ck_assert(!kin_is_due(&kin, start_ns + MAX_KIN));
	ck_assert(kin_is_due(&kin, start_ns + MAX_KIN + 60 * NSEC_PER_SEC));
	kin_release(&kin);
}
END_TEST

/* Numbers that no process can have are not taken for ancestors. */
START_TEST(numbers_out_of_range)
{
	struct kin kin = {0};

	remember(&kin, UINT32_MAX, UINT32_MAX - 1, start_ns);
	remember(&kin, MAX_TASK_ID + 1, MAX_TASK_ID, start_ns);
	settle(&kin, UINT32_MAX - 1, start_ns + keep_ns + 1);
	ck_assert_uint_eq(kin.count, 0);
	kin_release(&kin);
}
END_TEST

enum { GRANDPARENT = 4000001, PARENT = 4000002, CHILD = 4000003, LEAF = 4000004 };

struct found {
	bool parent, child;
};

static void find(uint32_t parent, uint32_t pid, void *ctx)
{
	struct found *found = ctx;

	found->parent |= parent == GRANDPARENT && pid == PARENT;
	found->child |= parent == PARENT && pid == CHILD;
}

static bool remembers(const struct procs *procs, uint32_t pid)
{
	struct few_pids few = {0};

	few_pids_add(&few, pid);
	procs_find_remembered(procs, &few);
	return procs_known(procs, pid) || !few.count;
}

START_TEST(the_table_tells_of_both)
{
	struct store *store = store_new(16);
	struct procs *procs = procs_new(store);
	struct found found = {0};
	struct proc_stats stats;

	procs_exec(procs, GRANDPARENT, "make", start_ns);
	procs_fork(procs, GRANDPARENT, PARENT, start_ns);
	procs_fork(procs, PARENT, CHILD, start_ns);
	procs_fork(procs, PARENT, LEAF, start_ns);
	procs_exit(procs, LEAF, LEAF, start_ns + 1);
	procs_exit(procs, PARENT, PARENT, start_ns + 1);
	/* PARENT has ended, but is still in the table. */
	procs_each_kin(procs, find, &found);
	ck_assert(found.parent && found.child);
	procs_exit(procs, GRANDPARENT, GRANDPARENT, start_ns + 2);
	procs_expire(procs, start_ns + 3);
	ck_assert(!procs_known(procs, PARENT) && !procs_known(procs, GRANDPARENT));
	found = (struct found){0};
	procs_each_kin(procs, find, &found);
	ck_assert(found.parent && found.child);
	ck_assert(remembers(procs, GRANDPARENT) && remembers(procs, CHILD));
	/* A process that started no other one is known by its own samples only. */
	ck_assert(!remembers(procs, LEAF));
	procs_get_stats(procs, &stats);
	ck_assert_uint_eq(stats.kin, 2);
	procs_expire(procs, start_ns + 3 * keep_ns);
	ck_assert(remembers(procs, GRANDPARENT));
	procs_exit(procs, CHILD, CHILD, start_ns + 3 * keep_ns);
	procs_expire(procs, start_ns + 5 * keep_ns);
	ck_assert(!remembers(procs, GRANDPARENT) && !remembers(procs, PARENT));
	procs_free(procs);
	store_free(store);
}
END_TEST

Suite *kin_suite(void)
{
	Suite *suite = suite_create("kin");
	TCase *tests = tcase_create("kin");

	tcase_add_test(tests, ancestors_of_who_lives_stay);
	tcase_add_test(tests, is_bounded);
	tcase_add_test(tests, numbers_out_of_range);
	tcase_add_test(tests, the_table_tells_of_both);
	suite_add_tcase(suite, tests);
	return suite;
}
