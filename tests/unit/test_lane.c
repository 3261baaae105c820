/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct lane: order, one job at a time, the bound, users that take turns, and what stopping does
 * to jobs that wait.
 */
#include "base/lane.h"

#include "base/clock.h"
#include "base/turns.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { JOBS = 20 };

struct record {
	int running, most_running, ran[JOBS], ran_count;
	int done[JOBS], done_count;
};

struct test_job {
	struct job job;
	struct record *record;
	struct lane *lane;
	int number;
	bool ran, stops_lane;
};

static void run(struct job *job)
{
	struct test_job *test = (struct test_job *)job;
	struct record *record = test->record;
	int running = __atomic_add_fetch(&record->running, 1, __ATOMIC_SEQ_CST);

	if (running > record->most_running)
		record->most_running = running;
	test->ran = true;
	record->ran[record->ran_count++] = test->number;
	__atomic_sub_fetch(&record->running, 1, __ATOMIC_SEQ_CST);
}

static void done(struct job *job)
{
	struct test_job *test = (struct test_job *)job;

	test->record->done[test->record->done_count++] = test->number;
	if (test->stops_lane)
		lane_stop(test->lane);
}

static void init_jobs(struct test_job jobs[JOBS], struct record *record, struct lane *lane)
{
	for (int i = 0; i < JOBS; i++) {
		jobs[i] = (struct test_job){
			.job = {run, done, NULL}, .record = record, .lane = lane, .number = i};
	}
}

START_TEST(first_in_first_out)
{
	struct record record = {0};
	struct test_job jobs[JOBS];
	uv_loop_t loop;

	uv_loop_init(&loop);
	struct lane *lane = lane_new(&loop, WORK_render, JOBS);
	init_jobs(jobs, &record, lane);
	for (int i = 0; i < JOBS; i++)
		ck_assert_int_eq(lane_submit(lane, &jobs[i].job), 0);
	ck_assert_uint_eq(lane_length(lane), JOBS);
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_uint_eq(lane_length(lane), 0);
	ck_assert_int_eq(record.most_running, 1);
	ck_assert_int_eq(record.done_count, JOBS);
	for (int i = 0; i < JOBS; i++) {
		ck_assert_int_eq(record.ran[i], i);
		ck_assert_int_eq(record.done[i], i);
	}
	lane_stop(lane);
	lane_free(lane);
	ck_assert_int_eq(uv_loop_close(&loop), 0);
}
END_TEST

START_TEST(sheds_load)
{
	struct record record = {0};
	struct test_job jobs[JOBS];
	uv_loop_t loop;

	uv_loop_init(&loop);
	struct lane *lane = lane_new(&loop, WORK_render, 2);
	init_jobs(jobs, &record, lane);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(lane_submit(lane, &jobs[i].job), 0);
	ck_assert_int_eq(lane_submit(lane, &jobs[3].job), -EAGAIN);
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(record.done_count, 3);
	ck_assert_int_eq(lane_submit(lane, &jobs[3].job), 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert(jobs[3].ran);
	lane_free(lane);
	uv_loop_close(&loop);
}
END_TEST

START_TEST(stopping_finishes_the_queue_unrun)
{
	struct record record = {0};
	struct test_job jobs[JOBS];
	uv_loop_t loop;

	uv_loop_init(&loop);
	struct lane *lane = lane_new(&loop, WORK_render, JOBS);
	init_jobs(jobs, &record, lane);
	for (int i = 0; i < 4; i++)
		lane_submit(lane, &jobs[i].job);
	lane_stop(lane);
	ck_assert_int_eq(record.done_count, 3);
	ck_assert_uint_eq(lane_length(lane), 1);
	ck_assert_int_eq(lane_submit(lane, &jobs[4].job), -EAGAIN);
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(record.done_count, 4);
	ck_assert(jobs[0].ran && !jobs[1].ran && !jobs[2].ran && !jobs[3].ran);
	lane_stop(lane);
	lane_free(lane);
	uv_loop_close(&loop);
}
END_TEST

START_TEST(stopping_from_done)
{
	struct record record = {0};
	struct test_job jobs[JOBS];
	uv_loop_t loop;

	uv_loop_init(&loop);
	struct lane *lane = lane_new(&loop, WORK_render, JOBS);
	init_jobs(jobs, &record, lane);
	jobs[0].stops_lane = true;
	for (int i = 0; i < JOBS; i++)
		lane_submit(lane, &jobs[i].job);
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(record.done_count, JOBS);
	ck_assert(!jobs[JOBS - 1].ran);
	lane_free(lane);
	lane_free(NULL);
	uv_loop_close(&loop);
}
END_TEST

static void note_running(const char *name, uint64_t running_ns, void *ctx)
{
	if (!strcmp(name, "render"))
		*(uint64_t *)ctx = running_ns;
}

static uint64_t running_ns(void)
{
	uint64_t ns = UINT64_MAX;

	lanes_each(note_running, &ns);
	return ns;
}

START_TEST(how_long_a_job_has_been_running)
{
	struct record record = {0};
	struct test_job jobs[JOBS];
	uv_loop_t loop;

	uv_loop_init(&loop);
	struct lane *lane = lane_new(&loop, WORK_render, JOBS);
	init_jobs(jobs, &record, lane);
	ck_assert_uint_eq(running_ns(), 0);
	lane_submit(lane, &jobs[0].job);
	usleep(20000);
	/* The loop has not learned yet that the job has ended. */
	ck_assert_uint_ge(running_ns(), 20000000);
	ck_assert_uint_ne(running_ns(), UINT64_MAX);
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_uint_eq(running_ns(), 0);
	lane_free(lane);
	ck_assert_uint_eq(running_ns(), UINT64_MAX);
	uv_loop_close(&loop);
}
END_TEST

enum { OF_SLOW = 8 };

static uint64_t user_of(const struct job *job)
{
	return LANE_USER(((const struct test_job *)job)->number < OF_SLOW ? 1000 : 1001);
}

/* Takes longer than all other jobs together, even on a busy machine. */
static void run_slowly(struct job *job)
{
	usleep(300 * 1000);
	run(job);
}

/* The job of a user that has used little of the lane does not wait behind all jobs of another
 * user. */
START_TEST(users_take_turns)
{
	struct record record = {0};
	struct test_job jobs[JOBS];
	uv_loop_t loop;

	uv_loop_init(&loop);
	struct lane *lane = lane_new(&loop, WORK_render, JOBS);
	lane_take_turns(lane, user_of);
	init_jobs(jobs, &record, lane);
	jobs[0].job.run = run_slowly;
	for (int i = 0; i < JOBS; i++)
		ck_assert_int_eq(lane_submit(lane, &jobs[i].job), 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(record.done_count, JOBS);
	ck_assert_int_eq(record.done[0], 0);
	/* All jobs of the other user come next, in their order, then the rest. */
	for (int i = OF_SLOW; i < JOBS; i++)
		ck_assert_int_eq(record.done[i - OF_SLOW + 1], i);
	for (int i = 1; i < OF_SLOW; i++)
		ck_assert_int_eq(record.done[JOBS - OF_SLOW + i], i);
	lane_stop(lane);
	lane_free(lane);
	ck_assert_int_eq(uv_loop_close(&loop), 0);
}
END_TEST

START_TEST(turns_are_forgotten)
{
	enum { FEW = 3 };
	struct turns turns = {0};

	turns_age(&turns, 1000 * NSEC_PER_SEC);
	turns_note(&turns, 1, 8 * NSEC_PER_SEC);
	turns_note(&turns, 1, 8 * NSEC_PER_SEC);
	ck_assert_uint_eq(turns_used(&turns, 1), 16 * NSEC_PER_SEC);
	ck_assert_uint_eq(turns_used(&turns, 2), 0);
	turns_age(&turns, 1040 * NSEC_PER_SEC);
	ck_assert_uint_eq(turns_used(&turns, 1), 8 * NSEC_PER_SEC);
	/* The account that had used least makes room for one that has used more, and for no
	 * other. */
	for (uint64_t i = 0; i < TURNS_KEPT + FEW; i++)
		turns_note(&turns, 100 + i, NSEC_PER_SEC + i);
	ck_assert_uint_eq(turns_used(&turns, 1), 8 * NSEC_PER_SEC);
	ck_assert_uint_eq(turns_used(&turns, 100), 0);
	ck_assert_uint_ne(turns_used(&turns, 100 + TURNS_KEPT), 0);
	turns_note(&turns, 99, 1);
	ck_assert_uint_eq(turns_used(&turns, 99), 0);
	turns_age(&turns, 100000 * NSEC_PER_SEC);
	ck_assert_uint_eq(turns_used(&turns, 1), 0);
}
END_TEST

Suite *lane_suite(void)
{
	Suite *suite = suite_create("lane");
	TCase *tcase = tcase_create("lane");

	tcase_add_test(tcase, first_in_first_out);
	tcase_add_test(tcase, sheds_load);
	tcase_add_test(tcase, stopping_finishes_the_queue_unrun);
	tcase_add_test(tcase, stopping_from_done);
	tcase_add_test(tcase, how_long_a_job_has_been_running);
	tcase_add_test(tcase, users_take_turns);
	tcase_add_test(tcase, turns_are_forgotten);
	suite_add_tcase(suite, tcase);
	return suite;
}
