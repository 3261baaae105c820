/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Turns on a lane: whose comes next, how many an account may have, which are hastened, and which
 * have waited for too long.
 */
#include "base/lane.h"
#include "tests/unit/suites.h"

#include <errno.h>

enum { MOST = 32 };

struct record {
	int ran[MOST], ran_count, done_count; /* ran: accounts */
};

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

/* A lane with 16 places, where a job runs. */
static struct lane *busy_lane(uv_loop_t *loop, struct test_turn *first, struct record *record)
{
	struct lane *lane;

	uv_loop_init(loop);
	lane = lane_new(loop, WORK_render, 16);
	*first = (struct test_turn){{.job = {.run = run_turn, .done = turn_done}}, record};
	ck_assert_int_eq(lane_submit(lane, &first->turn.job), 0);
	return lane;
}

static void run_and_end(struct lane *lane, uv_loop_t *loop)
{
	uv_run(loop, UV_RUN_DEFAULT);
	lane_free(lane);
	ck_assert_int_eq(uv_loop_close(loop), 0);
}

/* Of 16 places account 1 has 7, and account 2 four of the others, which it uses up. */
START_TEST(no_turn_is_hastened_beyond_a_share)
{
	static const uint64_t late = 1, other = 2;
	struct test_turn first, turns[16], more;
	struct record record = {0};
	uv_loop_t loop;
	struct lane *lane = busy_lane(&loop, &first, &record);
	int count = 0;

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
	run_and_end(lane, &loop);
}
END_TEST

/* Of 16 places there are 14 for all accounts except root: 7 for the first, then 4 of the 7 that are
 * left. */
START_TEST(nobody_has_the_whole_queue)
{
	struct test_turn first, turns[17], more;
	struct record record = {0};
	uv_loop_t loop;
	struct lane *lane = busy_lane(&loop, &first, &record);
	int count = 0;

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
	run_and_end(lane, &loop);
}
END_TEST

/* The first one runs already; root's wait for as long as it takes. */
START_TEST(a_turn_that_waits_too_long_is_given_up)
{
	static const uint64_t accounts[] = {1, 0, 2, 3};
	struct test_turn turns[4];
	struct record record = {0};
	uv_loop_t loop;

	uv_loop_init(&loop);
	struct lane *lane = lane_new(&loop, WORK_render, 32);
	for (int i = 0; i < 4; i++) {
		ck_assert_int_eq(submit_turn(lane, &turns[i], &record, accounts[i]), 0);
		ck_assert_uint_gt(turns[i].turn.queued_mono_ns, 0);
		turns[i].turn.queued_mono_ns -= i < 3 ? LANE_PATIENCE_NS : LANE_PATIENCE_NS / 2;
	}
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(record.done_count, 4);
	ck_assert_int_eq(record.ran_count, 3);
	assert_ran(&record, (const int[]){1, 0, 3});
	ck_assert_uint_eq(lane_length(lane), 0);
	lane_free(lane);
	ck_assert_int_eq(uv_loop_close(&loop), 0);
}
END_TEST

Suite *lane_turns_suite(void)
{
	Suite *suite = suite_create("lane_turns");
	TCase *tests = tcase_create("lane_turns");

	tcase_add_test(tests, who_asks_for_much_waits_for_himself);
	tcase_add_test(tests, a_turn_that_waits_can_be_cancelled);
	tcase_add_test(tests, who_waits_for_another_one_waits_no_longer);
	tcase_add_test(tests, a_turn_that_comes_soon_stays);
	tcase_add_test(tests, no_turn_is_hastened_beyond_a_share);
	tcase_add_test(tests, nobody_has_the_whole_queue);
	tcase_add_test(tests, a_turn_that_waits_too_long_is_given_up);
	suite_add_tcase(suite, tests);
	return suite;
}
