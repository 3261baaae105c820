/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How much CPU time samples stand for, according to the scheduler.
 */
#include "kernel/run_times.h"

#include "tests/unit/suites.h"

enum { PERIOD = 10000, MANY = 10000, END = 1000 * 1000 };

static struct run_times *times;
static struct tally_key keys[MANY];
static struct tally tallies[MANY];
static size_t count;
static struct thread_ran ended[4];
static struct threads_ran ran = {.all = ended};

static void set_up(void)
{
	times = run_times_new();
	ck_assert_ptr_nonnull(times);
	count = ran.count = 0;
}

static void tear_down(void)
{
	run_times_free(times);
}

static void add(u32 tid, u64 samples, u64 first_ns, u64 latest_ns)
{
	keys[count] = (struct tally_key){.tid = tid, .pid = tid, .image = 7, .kind = KIND_cpu};
	tallies[count++] = (struct tally){
		.count = samples,
		.value = samples * PERIOD,
		.first_ran_ns = first_ns,
		.ran_ns = latest_ns,
	};
}

static void weigh(void)
{
	const struct drained drained = {
		.tally_keys = keys,
		.tallies = tallies,
		.tally_count = count,
	};

	run_times_weigh(times, &drained, &ran, END, PERIOD);
	count = ran.count = 0;
}

static void end(u32 tid, u64 ran_ns)
{
	ended[ran.count++] = (struct thread_ran){.tid = tid, .ran_ns = ran_ns};
}

START_TEST(the_first_sample_stands_for_a_period)
{
	add(1, 1, 123, 123);
	add(2, 1, 500 * PERIOD, 500 * PERIOD);
	weigh();
	ck_assert_uint_eq(tallies[0].value, PERIOD);
	ck_assert_uint_eq(tallies[1].value, PERIOD);
}
END_TEST

START_TEST(all_of_a_round_stand_for_equal_parts)
{
	add(1, 3, 1000, 61000);
	add(2, 2, 5, 5);
	add(1, 1, 31000, 31000);
	weigh();
	ck_assert_uint_eq(tallies[0].value, 52500);
	ck_assert_uint_eq(tallies[2].value, 17500);
	ck_assert_uint_eq(tallies[1].value, PERIOD);
}
END_TEST

START_TEST(from_round_to_round_sums_are_what_ran)
{
	u64 sum = 0;

	for (u64 round = 0; round < 100; round++) {
		/* The thread is sampled too seldom: twice in every third half. */
		if (round % 3 == 0) {
			add(1, 1, 1000 + round * 777, 1000 + round * 777);
			add(1, 1, 1301 + round * 777, 1301 + round * 777);
		}
		weigh();
		if (round % 3 == 0)
			sum += tallies[0].value + tallies[1].value;
	}
	ck_assert_uint_eq(sum, PERIOD + 301 + 99 * 777);
}
END_TEST

/* Sums are exact where the run time at the end of a half is known; the latest sample may be much
 * older than that. */
START_TEST(until_the_end_of_a_round)
{
	add(1, 1, 5000, 5000);
	end(1, 9000);
	weigh();
	ck_assert_uint_eq(tallies[0].value, PERIOD);
	add(1, 1, 11000, 11000);
	end(2, 77);
	end(1, 19000);
	weigh();
	ck_assert_uint_eq(tallies[0].value, 14000);
	/* A sample may arrive before the run time at the end of the half was read. */
	add(1, 1, 18500, 18500);
	add(1, 1, 21000, 21000);
	end(1, 23000);
	weigh();
	ck_assert_uint_eq(tallies[0].value + tallies[1].value, 4000);
	add(1, 1, 24000, 24000);
	weigh();
	ck_assert_uint_eq(tallies[0].value, 1000);
	/* Another thread has the same ID by then. */
	add(1, 1, 25000, 25000);
	end(1, 300);
	weigh();
	ck_assert_uint_eq(tallies[0].value, 1000);
}
END_TEST

START_TEST(asked_too_late)
{
	add(1, 1, 5000, 5000);
	weigh();
	add(1, 1, 11000, 11000);
	tallies[0].last_ns = END - 700;
	end(1, 19000);
	weigh();
	ck_assert_uint_eq(tallies[0].value, 6700);
	/* The rest counts in the next half. */
	add(1, 1, 19500, 19500);
	end(1, 20000);
	weigh();
	ck_assert_uint_eq(tallies[0].value, 8300);
}
END_TEST

START_TEST(another_thread_with_its_number)
{
	add(1, 1, 90000, 90000);
	weigh();
	add(1, 1, 20, 20);
	weigh();
	ck_assert_uint_eq(tallies[0].value, PERIOD);
	add(1, 1, 170, 170);
	keys[0].image++;
	weigh();
	ck_assert_uint_eq(tallies[0].value, PERIOD);
	add(1, 1, 170, 170);
	weigh();
	ck_assert_uint_eq(tallies[0].value, 150);
}
END_TEST

START_TEST(other_kinds_are_left_alone)
{
	add(1, 2, 50, 60);
	keys[0].kind = KIND_rss;
	tallies[0].value = 4096;
	weigh();
	ck_assert_uint_eq(tallies[0].value, 4096);
}
END_TEST

START_TEST(more_than_there_is_room_for)
{
	for (u32 tid = 1; tid <= MANY; tid++)
		add(tid, 2, 0, PERIOD);
	weigh();
	for (u32 i = 0; i < MANY; i++)
		ck_assert_uint_eq(tallies[i].value, 2 * PERIOD);
	/* For threads that found room, the time since then counts. */
	u64 known = 0;
	for (u32 tid = 1; tid <= MANY; tid++)
		add(tid, 1, 3 * PERIOD, 3 * PERIOD);
	weigh();
	for (u32 i = 0; i < MANY; i++)
		known += tallies[i].value == 2 * PERIOD;
	ck_assert_uint_gt(known, 1000);
	/* Threads that were sampled lately are forgotten last. */
	for (int round = 0; round < 3; round++) {
		for (u32 tid = 1; tid <= 100; tid++)
			add(tid, 1, (4 + (u64)round) * PERIOD, (4 + (u64)round) * PERIOD);
		weigh();
	}
	for (u32 i = 0; i < 100; i++)
		ck_assert_uint_eq(tallies[i].value, PERIOD);
}
END_TEST

Suite *run_times_suite(void)
{
	Suite *suite = suite_create("run_times");
	TCase *tcase = tcase_create("run_times");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, the_first_sample_stands_for_a_period);
	tcase_add_test(tcase, all_of_a_round_stand_for_equal_parts);
	tcase_add_test(tcase, from_round_to_round_sums_are_what_ran);
	tcase_add_test(tcase, until_the_end_of_a_round);
	tcase_add_test(tcase, asked_too_late);
	tcase_add_test(tcase, another_thread_with_its_number);
	tcase_add_test(tcase, other_kinds_are_left_alone);
	tcase_add_test(tcase, more_than_there_is_room_for);
	suite_add_tcase(suite, tcase);
	return suite;
}
