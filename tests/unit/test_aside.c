/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct aside: a call that hangs is left behind with its user, and what other users call goes on.
 */
#include "base/aside.h"

#include "base/accounts.h"
#include "base/clock.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

enum { ALICE = 1000, BOB = 1001 };

static const uint64_t patience_ns = 100 * NSEC_PER_MSEC;

/* Waits until its pipe is closed, if it has one, and for `sleep_ms`. */
struct test_call {
	struct aside_call call;
	int pipe, sleep_ms;
	bool ran;
};

static struct {
	struct aside *aside;
	int pipe[2];
	atomic_int freed;
} all;

static void run(struct aside_call *call)
{
	struct test_call *test = (struct test_call *)call;
	char byte;

	if (test->pipe >= 0)
		ck_assert_int_eq(read(test->pipe, &byte, 1), 0);
	usleep((useconds_t)test->sleep_ms * 1000);
	test->ran = true;
}

static void free_call(struct aside_call *call)
{
	ck_assert(((struct test_call *)call)->ran);
	free(call);
	all.freed++;
}

static struct test_call *new_call(uint32_t owner, uint32_t pid, bool hangs)
{
	struct test_call *test = calloc(1, sizeof(*test));

	ck_assert_ptr_nonnull(test);
	test->call = (struct aside_call){.owner = owner, .pid = pid, .run = run, .free = free_call};
	test->pipe = hangs ? all.pipe[0] : -1;
	return test;
}

/* Frees the call, unless it is left behind. */
static int run_call(uint32_t owner, uint32_t pid, bool hangs)
{
	struct test_call *test = new_call(owner, pid, hangs);
	int err = aside_run(all.aside, &test->call, patience_ns);

	if (err == -ETIMEDOUT)
		return err;
	ck_assert_int_eq(test->ran, !err);
	free(test);
	return err;
}

static int run_slow(uint32_t owner, int sleep_ms)
{
	struct test_call *test = new_call(owner, 1, false);
	int err;

	test->sleep_ms = sleep_ms;
	err = aside_run(all.aside, &test->call, NSEC_PER_SEC);
	free(test);
	return err;
}

static void let_go(int count)
{
	close(all.pipe[1]);
	for (int i = 0; i < 2000 && all.freed < count; i++)
		usleep(1000);
	ck_assert_int_eq(all.freed, count);
}

static void set_up(void)
{
	all.aside = aside_new();
	ck_assert_ptr_nonnull(all.aside);
	ck_assert_int_eq(pipe(all.pipe), 0);
	all.freed = 0;
}

static void tear_down(void)
{
	aside_free(all.aside);
	close(all.pipe[0]);
	accounts_clear();
}

START_TEST(a_call_is_run)
{
	for (int i = 0; i < 1000; i++)
		ck_assert_int_eq(run_call(ALICE, 1, false), 0);
	let_go(0);
}
END_TEST

START_TEST(one_that_hangs_is_left_behind)
{
	ck_assert_int_eq(run_call(ALICE, 1, true), -ETIMEDOUT);
	/* Her other processes are not touched either, and nobody waits for that. */
	uint64_t begun_ns = clock_mono_ns();
	ck_assert_int_eq(run_call(ALICE, 2, false), -EBUSY);
	ck_assert_int_eq(run_call(BOB, 3, false), 0);
	ck_assert_uint_lt(clock_mono_ns() - begun_ns, patience_ns);
	/* The process is now his. */
	ck_assert_int_eq(run_call(BOB, 1, false), -EBUSY);
	ck_assert_int_eq(run_call(BOB, 3, true), -ETIMEDOUT);
	let_go(2);
	ck_assert_int_eq(run_call(ALICE, 2, false), 0);
	ck_assert_int_eq(run_call(BOB, 1, false), 0);
}
END_TEST

START_TEST(root_may_have_several)
{
	for (uint32_t pid = 1; pid <= ASIDE_LEFT_ROOT; pid++) {
		ck_assert_int_eq(run_call(0, pid, true), -ETIMEDOUT);
		ck_assert_int_eq(run_call(0, pid, false), -EBUSY);
	}
	ck_assert_int_eq(run_call(0, 1000, true), -EBUSY);
	ck_assert_int_eq(run_call(ALICE, 1001, false), 0);
	let_go(ASIDE_LEFT_ROOT);
	ck_assert_int_eq(run_call(0, 1, false), 0);
}
END_TEST

START_TEST(accounts_are_one_user)
{
	static const char subuid[] = "1000:100000:65536\n";

	accounts_set(text_of(subuid, sizeof(subuid) - 1), text_of("", 0));
	ck_assert_int_eq(run_call(100000, 1, true), -ETIMEDOUT);
	ck_assert_int_eq(run_call(100001, 2, false), -EBUSY);
	ck_assert_int_eq(run_call(ALICE, 3, false), -EBUSY);
	let_go(1);
}
END_TEST

START_TEST(who_is_slow_waits_himself)
{
	int count = 0;

	while (run_slow(ALICE, 90) == 0)
		ck_assert_int_lt(count++, 12);
	ck_assert_int_ge(count, 3);
	ck_assert_int_eq(run_call(BOB, 2, false), 0);
	for (int i = 0; i < 12; i++)
		ck_assert_int_eq(run_slow(0, 60), 0);
	let_go(0);
}
END_TEST

/* No thread is there yet, or the one that waits has not got a CPU. */
START_TEST(one_that_no_thread_began_is_not_left_behind)
{
	int left = 0, refused = 0;

	for (int i = 0; i < 500; i++) {
		struct test_call *test = new_call(0, (uint32_t)i, false);
		int err = aside_run(all.aside, &test->call, 0);

		left += err == -ETIMEDOUT;
		refused += err == -EAGAIN;
		if (err == -ETIMEDOUT)
			continue;
		ck_assert_msg(err == 0 || err == -EAGAIN, "%d", err);
		ck_assert_int_eq(test->ran, !err);
		free(test);
	}
	ck_assert_int_gt(refused, 0);
	let_go(left);
	ck_assert_int_eq(run_call(0, 1, false), 0);
}
END_TEST

START_TEST(it_may_be_freed_while_one_hangs)
{
	ck_assert_int_eq(run_call(ALICE, 1, true), -ETIMEDOUT);
	aside_free(all.aside);
	all.aside = NULL;
	let_go(1);
}
END_TEST

Suite *aside_suite(void)
{
	Suite *suite = suite_create("aside");
	TCase *tests = tcase_create("aside");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, a_call_is_run);
	tcase_add_test(tests, one_that_hangs_is_left_behind);
	tcase_add_test(tests, root_may_have_several);
	tcase_add_test(tests, accounts_are_one_user);
	tcase_add_test(tests, who_is_slow_waits_himself);
	tcase_add_test(tests, one_that_no_thread_began_is_not_left_behind);
	tcase_add_test(tests, it_may_be_freed_while_one_hangs);
	suite_add_tcase(suite, tests);
	return suite;
}
