/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct crew: a job that hangs delays only its owner, is not waited for longer than documented,
 * and ends when it can.
 */
#include "base/crew.h"

#include "base/accounts.h"
#include "base/clock.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <string.h>

enum { DEADLINE_MS = 400, JOBS = 64, ALICE = 1000, BOB = 1001 };

/* A job that hangs until its pipe is written to; without a pipe it does not hang. */
struct test_job {
	struct crew_job job;
	int hang[2];
	int err;
	bool ran, done;
};

static struct {
	uv_loop_t loop;
	struct crew *crew;
	struct test_job jobs[JOBS];
	size_t count, delivered;
} all;

static void run(struct crew_job *job)
{
	struct test_job *test = (struct test_job *)job;
	char byte;

	if (test->hang[0] >= 0)
		ck_assert_int_eq(read(test->hang[0], &byte, 1), 1);
	test->ran = true;
}

static void done(struct crew_job *job, int err)
{
	struct test_job *test = (struct test_job *)job;

	test->done = true;
	test->err = err;
}

static void delivered(void *ctx)
{
	(void)ctx;
	all.delivered++;
}

static struct test_job *submit_job(const struct crew_job *job, bool hangs)
{
	struct test_job *test = &all.jobs[all.count++];

	*test = (struct test_job){.job = *job, .hang = {-1, -1}};
	test->job.run = run;
	test->job.done = done;
	if (hangs)
		ck_assert_int_eq(pipe(test->hang), 0);
	ck_assert_int_eq(crew_submit(all.crew, &test->job), 0);
	return test;
}

static struct test_job *submit(uint32_t owner, uint64_t device, bool hangs)
{
	return submit_job(&(struct crew_job){.owner = owner, .device = device}, hangs);
}

static void let_go(struct test_job *test)
{
	ck_assert_int_eq(write(test->hang[1], "x", 1), 1);
}

/* Runs the loop, as the daemon does, until the condition holds. */
static void run_loop_until(bool (*condition)(void))
{
	uint64_t end = clock_mono_ns() + 5 * NSEC_PER_SEC;

	while (!condition() && clock_mono_ns() < end)
		uv_run(&all.loop, UV_RUN_ONCE);
	ck_assert(condition());
}

static struct crew_stats stats(void)
{
	struct crew_stats now;

	crew_get_stats(all.crew, &now);
	return now;
}

static void start(void)
{
	memset(&all, 0, sizeof(all));
	ck_assert_int_eq(uv_loop_init(&all.loop), 0);
	const struct crew_config config = {.loop = &all.loop,
	                                   .deadline_ns = DEADLINE_MS * NSEC_PER_MSEC,
	                                   .delivered = delivered};
	ck_assert_int_eq(crew_new(&config, &all.crew), 0);
}

static bool nobody_hangs(void)
{
	for (size_t i = 0; i < all.count; i++)
		if (all.jobs[i].hang[0] >= 0 && !all.jobs[i].done)
			return false;
	return true;
}

/* On a busy host a job that was released may take longer to end than crew_stop() waits, so wait for
 * the jobs first. */
static void stop(void)
{
	for (size_t i = 0; i < all.count; i++)
		if (all.jobs[i].hang[0] >= 0 && !all.jobs[i].ran)
			let_go(&all.jobs[i]);
	run_loop_until(nobody_hangs);
	crew_stop(all.crew);
	uv_run(&all.loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(uv_loop_close(&all.loop), 0);
	crew_free(all.crew);
	for (size_t i = 0; i < all.count; i++) {
		ck_assert(all.jobs[i].done);
		if (all.jobs[i].hang[0] < 0)
			continue;
		close(all.jobs[i].hang[0]);
		close(all.jobs[i].hang[1]);
	}
}

static bool all_done(void)
{
	for (size_t i = 0; i < all.count; i++)
		if (!all.jobs[i].done)
			return false;
	return true;
}

START_TEST(jobs_end_and_are_told_of)
{
	for (int i = 0; i < 20; i++)
		submit(ALICE, (uint64_t)i % 3, false);
	run_loop_until(all_done);
	for (size_t i = 0; i < all.count; i++) {
		ck_assert(all.jobs[i].ran);
		ck_assert_int_eq(all.jobs[i].err, 0);
	}
	ck_assert_uint_eq(stats().done, 20);
	ck_assert_uint_eq(stats().queued, 0);
	ck_assert_uint_ge(all.delivered, 1);
	/* Nothing is left that would wake the loop: both handles are idle or unreferenced. */
	ck_assert_uint_eq(stats().hanging, 0);
}
END_TEST

static bool one_hangs(void)
{
	return stats().hanging == 1;
}

START_TEST(what_hangs_delays_its_device_only)
{
	struct test_job *hung = submit(ALICE, 1, true), *behind = submit(ALICE, 1, false);
	struct test_job *beside = submit(ALICE, 2, false), *other = submit(BOB, 1, false);

	crew_settle(all.crew, DEADLINE_MS / 2 * NSEC_PER_MSEC);
	ck_assert(beside->done && beside->ran);
	ck_assert(other->done && other->ran);
	ck_assert(!hung->done && !behind->done);
	run_loop_until(one_hangs);
	/* A job that waits behind the one that hangs is given up and never run. */
	while (!behind->done)
		uv_run(&all.loop, UV_RUN_ONCE);
	ck_assert_int_eq(behind->err, -ETIMEDOUT);
	ck_assert(!behind->ran && !hung->done);
	ck_assert_uint_eq(stats().timed_out, 1);
	/* The job that hangs ends when it can, and stays counted as one that hung. */
	let_go(hung);
	run_loop_until(all_done);
	ck_assert_int_eq(hung->err, 0);
	ck_assert_uint_eq(stats().hung, 1);
	ck_assert_uint_eq(stats().hanging, 0);
}
END_TEST

/* An owner that makes as many jobs hang as there are threads does not make other owners wait for
 * the deadline. */
START_TEST(what_is_slow_has_no_thread_that_others_need)
{
	uint64_t begin = clock_mono_ns();
	struct test_job *bob;

	for (uint64_t device = 1; device <= CREW_THREADS; device++)
		submit(ALICE, device, true);
	for (uint64_t device = 1; device <= CREW_THREADS; device++)
		submit(0, device, true);
	bob = submit(BOB, 1, false);
	while (!bob->done)
		uv_run(&all.loop, UV_RUN_ONCE);
	ck_assert_uint_lt(clock_mono_ns() - begin, DEADLINE_MS * NSEC_PER_MSEC);
	ck_assert_uint_eq(stats().hung, 0);
}
END_TEST

static bool two_hang(void)
{
	return stats().hanging == 2;
}

START_TEST(an_owner_of_whom_many_hang_waits)
{
	static const char range[] = "carol:131072:65536\n";
	struct test_job *late;

	submit(ALICE, 1, true);
	submit(ALICE, 2, true);
	run_loop_until(two_hang);
	late = submit(ALICE, 3, false);
	/* The subordinate ids of one user are one owner. */
	accounts_set(text_of(range, sizeof(range) - 1), text_of("", 0));
	submit(0x20001, 1, true);
	submit(0x20002, 2, true);
	while (stats().hanging < 4)
		uv_run(&all.loop, UV_RUN_ONCE);
	struct test_job *same_range = submit(0x20003, 3, false);
	struct test_job *bob = submit(BOB, 3, false), *root = submit(0, 3, false);
	while (!late->done || !same_range->done || !bob->done || !root->done)
		uv_run(&all.loop, UV_RUN_ONCE);
	ck_assert_int_eq(late->err, -ETIMEDOUT);
	ck_assert_int_eq(same_range->err, -ETIMEDOUT);
	ck_assert_int_eq(bob->err, 0);
	ck_assert_int_eq(root->err, 0);
	accounts_clear();
}
END_TEST

/* Or its descriptor would be lost. */
START_TEST(what_gives_back_does_not_wait_for_other_devices)
{
	const struct crew_job closing = {.owner = ALICE, .device = 3, .gives_back = true};
	struct test_job *late;

	submit(ALICE, 1, true);
	submit(ALICE, 2, true);
	run_loop_until(two_hang);
	late = submit_job(&closing, false);
	while (!late->done)
		uv_run(&all.loop, UV_RUN_ONCE);
	ck_assert_int_eq(late->err, 0);
}
END_TEST

START_TEST(settling_has_an_end)
{
	uint64_t begin = clock_mono_ns(), took;

	submit(ALICE, 1, true);
	crew_settle(all.crew, 20 * NSEC_PER_MSEC);
	took = clock_mono_ns() - begin;
	ck_assert_uint_ge(took, 19 * NSEC_PER_MSEC);
	/* A second call costs no time: the job is older than the patience. */
	begin = clock_mono_ns();
	crew_settle(all.crew, 20 * NSEC_PER_MSEC);
	ck_assert_uint_lt(clock_mono_ns() - begin, 10 * NSEC_PER_MSEC);
}
END_TEST

/* An owner alone may have half of the queue. */
START_TEST(an_owner_has_a_share_of_the_queue)
{
	static struct test_job many[CREW_QUEUE];
	struct test_job *hung = submit(ALICE, 1, true);
	size_t taken = 0, done_count = 0;

	for (size_t i = 0; i < CREW_QUEUE; i++) {
		many[i] = (struct test_job){
			.job = {.owner = ALICE, .device = 1, .run = run, .done = done},
			.hang = {-1, -1}};
		if (crew_submit(all.crew, &many[i].job))
			break;
		taken++;
	}
	ck_assert_uint_ge(taken, CREW_QUEUE / 2 - 2);
	ck_assert_uint_lt(taken, CREW_QUEUE / 2 + 2);
	ck_assert_uint_eq(stats().refused, 1);
	struct test_job *bob = submit(BOB, 1, false);
	while (!bob->done)
		uv_run(&all.loop, UV_RUN_ONCE);
	let_go(hung);
	crew_stop(all.crew);
	for (size_t i = 0; i < taken; i++)
		done_count += many[i].done;
	ck_assert_uint_eq(done_count, taken);
	uv_run(&all.loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(uv_loop_close(&all.loop), 0);
	crew_free(all.crew);
	start();
}
END_TEST

Suite *crew_suite(void)
{
	Suite *suite = suite_create("crew");
	TCase *crew = tcase_create("crew");

	tcase_add_checked_fixture(crew, start, stop);
	tcase_add_test(crew, jobs_end_and_are_told_of);
	tcase_add_test(crew, what_hangs_delays_its_device_only);
	tcase_add_test(crew, what_gives_back_does_not_wait_for_other_devices);
	tcase_add_test(crew, what_is_slow_has_no_thread_that_others_need);
	tcase_add_test(crew, an_owner_of_whom_many_hang_waits);
	tcase_add_test(crew, settling_has_an_end);
	tcase_add_test(crew, an_owner_has_a_share_of_the_queue);
	tcase_set_timeout(crew, 20);
	suite_add_tcase(suite, crew);
	return suite;
}
