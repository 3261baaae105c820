/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct pss_reader: a process that is not read in time delays only its own user, and each request
 * is answered exactly once. The test reads pipes.
 */
#include "memory/pss.h"

#include "base/clock.h"
#include "proc/owner.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { DEADLINE_MS = 400, ALICE = 1000, BOB = 1001, SLOW = 1, QUICK = 2, GONE = 3 };

struct test_ask {
	struct pss_ask ask;
	int err, times;
	uint64_t bytes;
};

static struct {
	uv_loop_t loop;
	struct pss_reader *reader;
	int hang[2];
} all;

/* Reads a pipe for a slow process. In the tests the slow ones belong to Alice. */
static int read_pss(uint32_t pid, uint64_t *ret_bytes)
{
	char byte;

	if (pid % 10 == SLOW)
		ck_assert_int_eq(read(all.hang[0], &byte, 1), 1);
	*ret_bytes = pid * 100;
	return 0;
}

/* Users by hundreds of pids. */
static uint32_t owner_of(uint32_t pid)
{
	return pid % 10 == GONE ? OWNER_UNKNOWN : pid < 100 ? ALICE : BOB;
}

static void done(struct pss_ask *ask, int err, uint64_t bytes)
{
	struct test_ask *test = (struct test_ask *)ask;

	test->times++;
	test->err = err;
	test->bytes = bytes;
}

static int ask(struct test_ask *test, uint32_t pid)
{
	*test = (struct test_ask){.ask = {.pid = pid, .done = done}};
	return pss_reader_ask(all.reader, &test->ask);
}

static void run_until_told(const struct test_ask *test)
{
	uint64_t end = clock_mono_ns() + 10 * NSEC_PER_SEC;

	while (!test->times && clock_mono_ns() < end)
		uv_run(&all.loop, UV_RUN_ONCE);
	ck_assert_int_eq(test->times, 1);
}

static void start(void)
{
	memset(&all, 0, sizeof(all));
	ck_assert_int_eq(pipe(all.hang), 0);
	ck_assert_int_eq(uv_loop_init(&all.loop), 0);
	const struct pss_config config = {.loop = &all.loop,
	                                  .deadline_ns = DEADLINE_MS * NSEC_PER_MSEC,
	                                  .read = read_pss,
	                                  .owner = owner_of};
	ck_assert_int_eq(pss_reader_new(&config, &all.reader), 0);
}

static void stop(void)
{
	pss_reader_stop(all.reader);
	uv_run(&all.loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(uv_loop_close(&all.loop), 0);
	pss_reader_free(all.reader);
	close(all.hang[0]);
	close(all.hang[1]);
}

START_TEST(what_is_read_is_told)
{
	struct test_ask quick, gone;

	ck_assert_int_eq(ask(&quick, 100 + QUICK), 0);
	ck_assert_int_eq(ask(&gone, 100 + GONE), -ESRCH);
	run_until_told(&quick);
	ck_assert_int_eq(quick.err, 0);
	ck_assert_uint_eq(quick.bytes, 10200);
	ck_assert_int_eq(gone.times, 0);
}
END_TEST

START_TEST(a_slow_one_delays_its_user_only)
{
	struct test_ask slow[3], behind, other;
	uint64_t begun_ns = clock_mono_ns();

	for (uint32_t i = 0; i < 3; i++)
		ck_assert_int_eq(ask(&slow[i], i * 10 + SLOW), 0);
	ck_assert_int_eq(ask(&behind, QUICK), 0);
	ck_assert_int_eq(ask(&other, 100 + QUICK), 0);
	run_until_told(&other);
	ck_assert_int_eq(other.err, 0);
	/* Only one of Alice's slow reads is begun at a time, however many there are. */
	ck_assert_int_eq(slow[0].times + slow[1].times + slow[2].times, 0);
	run_until_told(&behind);
	ck_assert_uint_ge(clock_mono_ns() - begun_ns, DEADLINE_MS * NSEC_PER_MSEC);
	ck_assert_int_eq(behind.err, -ETIMEDOUT);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(slow[i].err, -ETIMEDOUT);
	/* The slow read ends, its result is not wanted any more, and then the next one is read. */
	ck_assert_int_eq(write(all.hang[1], "x", 1), 1);
	ck_assert_int_eq(ask(&behind, QUICK), 0);
	run_until_told(&behind);
	ck_assert_int_eq(behind.err, 0);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(slow[i].times, 1);
}
END_TEST

START_TEST(whoever_waits_at_the_end_is_told)
{
	struct test_ask slow, behind;

	ck_assert_int_eq(ask(&slow, SLOW), 0);
	ck_assert_int_eq(ask(&behind, QUICK), 0);
	ck_assert_int_eq(write(all.hang[1], "x", 1), 1);
	pss_reader_stop(all.reader);
	ck_assert_int_eq(slow.times, 1);
	ck_assert_int_eq(behind.times, 1);
	uv_run(&all.loop, UV_RUN_DEFAULT);
	pss_reader_free(all.reader);
	ck_assert_int_eq(uv_loop_close(&all.loop), 0);
	start();
}
END_TEST

Suite *pss_suite(void)
{
	Suite *suite = suite_create("pss");
	TCase *tests = tcase_create("pss");

	tcase_add_checked_fixture(tests, start, stop);
	tcase_add_test(tests, what_is_read_is_told);
	tcase_add_test(tests, a_slow_one_delays_its_user_only);
	tcase_add_test(tests, whoever_waits_at_the_end_is_told);
	suite_add_tcase(suite, tests);
	return suite;
}
