/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct lane: order, one job at a time, the bound, whose turn it is, and what stopping does to
 * jobs that wait.
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

struct test_turn {
	struct turn turn;
	struct record *record;
};

static void run_turn(struct job *job)
{
	struct test_turn *test = (struct test_turn *)job;

	test->record->ran[test->record->ran_count++] = (int)test->turn.account;
}

static void turn_done(struct job *job)
{
	((struct test_turn *)job)->record->done_count++;
}

static int submit_turn(struct lane *lane, struct test_turn *test, struct record *record,
                       uint64_t account)
{
	*test = (struct test_turn){
		.turn = {.job = {.run = run_turn, .done = turn_done}, .account = account},
		.record = record,
	};
	int room = lane_has_room(lane, account), err = lane_submit_turn(lane, &test->turn);

	ck_assert_int_eq(room, err);
	return err;
}

START_TEST(who_asks_for_much_waits_for_himself)
{
	static const uint64_t accounts[] = {1, 1, 1, 1, 2, 2, 0, 3, 1};
	static const int expected[] = {1, 2, 0, 3, 1, 2, 1, 1, 1};
	struct test_turn turns[9];
	struct record record = {0};
	uv_loop_t loop;

	uv_loop_init(&loop);
	struct lane *lane = lane_new(&loop, WORK_render, 32);
	for (int i = 0; i < 9; i++)
		ck_assert_int_eq(submit_turn(lane, &turns[i], &record, accounts[i]), 0);
	ck_assert_uint_eq(lane_length(lane), 9);
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(record.done_count, 9);
	for (int i = 0; i < 9; i++)
		ck_assert_int_eq(record.ran[i], expected[i]);
	lane_free(lane);
	ck_assert_int_eq(uv_loop_close(&loop), 0);
}
END_TEST

START_TEST(a_turn_that_waits_can_be_cancelled)
{
	struct test_turn turns[3];
	struct record record = {0};
	uv_loop_t loop;

	uv_loop_init(&loop);
	struct lane *lane = lane_new(&loop, WORK_render, 32);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(submit_turn(lane, &turns[i], &record, (uint64_t)i + 1), 0);
	ck_assert(!lane_cancel_turn(lane, &turns[0].turn)); /* it runs */
	ck_assert(lane_cancel_turn(lane, &turns[1].turn));
	ck_assert(!lane_cancel_turn(lane, &turns[1].turn));
	ck_assert_uint_eq(lane_length(lane), 2);
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert(!lane_cancel_turn(lane, &turns[2].turn));
	ck_assert_int_eq(record.done_count, 2);
	ck_assert_int_eq(record.ran[0], 1);
	ck_assert_int_eq(record.ran[1], 3);
	lane_free(lane);
	ck_assert_int_eq(uv_loop_close(&loop), 0);
}
END_TEST

/* Submits a turn for each account; the last one is then hastened for `account`. */
static void run_hastened(struct record *record, const uint64_t *accounts, int count,
                         uint64_t account)
{
	struct test_turn turns[16];
	uv_loop_t loop;

	uv_loop_init(&loop);
	struct lane *lane = lane_new(&loop, WORK_render, 32);
	for (int i = 0; i < count; i++)
		ck_assert_int_eq(submit_turn(lane, &turns[i], record, accounts[i]), 0);
	lane_hasten_turn(lane, &turns[count - 1].turn, account);
	ck_assert_uint_eq(lane_length(lane), (size_t)count);
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(record->done_count, count);
	lane_free(lane);
	ck_assert_int_eq(uv_loop_close(&loop), 0);
}

static void assert_ran(const struct record *record, const int *accounts)
{
	for (int i = 0; i < record->ran_count; i++)
		ck_assert_int_eq(record->ran[i], accounts[i]);
}

START_TEST(who_waits_for_another_one_waits_no_longer)
{
	static const uint64_t accounts[] = {1, 1, 1, 3, 1}, hers[] = {1, 2, 1, 3, 1, 1};
	struct record record = {0};

	/* The last one becomes a turn of account 2, which has none. */
	run_hastened(&record, accounts, 5, 2);
	assert_ran(&record, (const int[]){1, 3, 2, 1, 1});
	/* Where account 2 has one, its next one comes in the round after that. */
	record = (struct record){0};
	run_hastened(&record, hers, 6, 2);
	assert_ran(&record, (const int[]){1, 2, 3, 1, 2, 1});
}
END_TEST

START_TEST(a_turn_that_comes_soon_stays)
{
	static const uint64_t accounts[] = {1, 2, 2, 3}, own[] = {2, 1, 1, 1};
	struct record record = {0};

	run_hastened(&record, accounts, 4, 2); /* it comes before the next one of account 2 */
	assert_ran(&record, (const int[]){1, 2, 3, 2});
	record = (struct record){0};
	run_hastened(&record, own, 4, 1); /* it is the account's own */
	assert_ran(&record, (const int[]){2, 1, 1, 1});
	record = (struct record){0};
	run_hastened(&record, accounts, 1, 2); /* it runs */
	assert_ran(&record, (const int[]){1});
}
END_TEST

/* Of 16 places account 1 has 7, and account 2 four of the others, which it uses up. */
START_TEST(no_turn_is_hastened_beyond_a_share)
{
	static const uint64_t late = 1, other = 2;
	struct test_turn turns[16], more;
	struct test_job jobs[JOBS];
	struct record record = {0};
	uv_loop_t loop;
	int count = 0;

	uv_loop_init(&loop);
	struct lane *lane = lane_new(&loop, WORK_render, 16);
	init_jobs(jobs, &record, lane);
	ck_assert_int_eq(lane_submit(lane, &jobs[0].job), 0);
	while (count < 7)
		ck_assert_int_eq(submit_turn(lane, &turns[count++], &record, late), 0);
	while (count < 11)
		ck_assert_int_eq(submit_turn(lane, &turns[count++], &record, other), 0);
	lane_hasten_turn(lane, &turns[6].turn, other);
	ck_assert_uint_eq(turns[6].turn.account, late);
	lane_hasten_turn(lane, &turns[6].turn, 3);
	ck_assert_uint_eq(turns[6].turn.account, 3);
	ck_assert_int_eq(submit_turn(lane, &more, &record, other), -EDQUOT);
	lane_stop(lane);
	ck_assert_int_eq(record.done_count, 11);
	uv_run(&loop, UV_RUN_DEFAULT);
	lane_free(lane);
	ck_assert_int_eq(uv_loop_close(&loop), 0);
}
END_TEST

/* Of 16 places there are 14 for all accounts except root: 7 for the first, then 4 of the 7 that are
 * left. */
START_TEST(nobody_has_the_whole_queue)
{
	struct test_turn turns[17], more;
	struct test_job jobs[JOBS];
	struct record record = {0};
	uv_loop_t loop;
	int count = 0;

	uv_loop_init(&loop);
	struct lane *lane = lane_new(&loop, WORK_render, 16);
	init_jobs(jobs, &record, lane);
	ck_assert_int_eq(lane_submit(lane, &jobs[0].job), 0);
	while (count < 7)
		ck_assert_int_eq(submit_turn(lane, &turns[count++], &record, 1), 0);
	ck_assert_int_eq(submit_turn(lane, &more, &record, 1), -EDQUOT);
	while (count < 11)
		ck_assert_int_eq(submit_turn(lane, &turns[count++], &record, 2), 0);
	ck_assert_int_eq(submit_turn(lane, &more, &record, 2), -EDQUOT);
	for (uint64_t account = 3; count < 14; account++)
		ck_assert_int_eq(submit_turn(lane, &turns[count++], &record, account), 0);
	ck_assert_int_eq(submit_turn(lane, &more, &record, 9), -EAGAIN);
	while (count < 16)
		ck_assert_int_eq(submit_turn(lane, &turns[count++], &record, 0), 0);
	ck_assert_int_eq(submit_turn(lane, &more, &record, 0), -EAGAIN);
	lane_stop(lane);
	ck_assert_int_eq(record.done_count, 16);
	uv_run(&loop, UV_RUN_DEFAULT);
	lane_free(lane);
	ck_assert_int_eq(uv_loop_close(&loop), 0);
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
	tcase_add_test(tcase, who_asks_for_much_waits_for_himself);
	tcase_add_test(tcase, a_turn_that_waits_can_be_cancelled);
	tcase_add_test(tcase, who_waits_for_another_one_waits_no_longer);
	tcase_add_test(tcase, a_turn_that_comes_soon_stays);
	tcase_add_test(tcase, no_turn_is_hastened_beyond_a_share);
	tcase_add_test(tcase, nobody_has_the_whole_queue);
	tcase_add_test(tcase, users_take_turns);
	tcase_add_test(tcase, turns_are_forgotten);
	suite_add_tcase(suite, tcase);
	return suite;
}
