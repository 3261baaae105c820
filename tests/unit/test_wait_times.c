/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * For how long samples of waits stand, according to the scheduler.
 */
#include "wait/wait_times.h"

#include "kernel/thread_sets.h"
#include "tests/unit/suites.h"

enum { MS = 1000 * 1000, SPAN = 1000 * MS, MANY = 10000 };
enum { BOOT = 77 }; /* seconds that the scheduler counts from before anything began */

static struct wait_times *times;
static struct tally_key keys[MANY];
static struct tally tallies[MANY];
static size_t count;
static uint64_t now_ms;

static void set_up(void)
{
	times = wait_times_new();
	ck_assert_ptr_nonnull(times);
	count = 0;
	now_ms = 1;
}

static void tear_down(void)
{
	wait_times_free(times);
}

static uint64_t account_ms(uint64_t ms)
{
	return ms ? (BOOT * 1000 + ms) * MS : 0;
}

/* A tally of a thread that has waited until now for `waited_ms` in all, of that `delayed_ms` for a
 * CPU; 0: not known. */
static void add(uint32_t tid, enum wait_state state, uint64_t value_ms, uint64_t waited_ms,
                uint64_t delayed_ms)
{
	keys[count] = (struct tally_key){
		.tid = tid, .pid = tid, .image = 7, .kind = KIND_offcpu, .detail = (u8)state};
	tallies[count++] = (struct tally){
		.count = 1,
		.value = value_ms * MS,
		.last_ns = now_ms++,
		.waited_ns = account_ms(waited_ms),
		.delayed_ns = delayed_ms * MS,
	};
}

static void weigh(void)
{
	const struct drained drained = {
		.tally_keys = keys,
		.tallies = tallies,
		.tally_count = count,
	};

	wait_times_weigh(times, &drained, SPAN);
	count = 0;
}

static void values(const uint64_t *expected, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ck_assert_uint_le((tallies[i].value + MS / 1000) / 1000 - expected[i] * 1000, 1);
}
#define VALUES(...)                             \
	values((const uint64_t[]){__VA_ARGS__}, \
	       sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static uint64_t left_ms(void)
{
	struct wait_left left;
	uint64_t sum = 0;
	size_t at = 0;

	while (wait_times_left(times, &at, &left))
		sum += left.ns / MS;
	return sum;
}

/* So many samples, which stand for `each` waits, of a thread that was switched away from so often
 * by then. Returns for how many waits they stand together when they are weighed. */
static uint64_t counted(size_t samples, uint64_t each, uint32_t switches)
{
	static uint64_t waited_ms = 1000;
	uint64_t sum = 0;

	waited_ms += 100;
	for (size_t i = 0; i < samples; i++) {
		add(1, WAIT_SLEEP, 1, waited_ms, 0);
		tallies[i].count = each;
		tallies[i].switches = switches;
	}
	weigh();
	for (size_t i = 0; i < samples; i++)
		sum += tallies[i].count;
	return sum;
}

START_TEST(counts_are_the_scheduler_s)
{
	const uint32_t wraps = UINT32_MAX - 500;

	ck_assert_uint_eq(counted(10, 16, wraps), 160);
	ck_assert_uint_eq(counted(10, 16, wraps + 250), 250);
	/* No tally is rounded away, and the counter starts again from 0. */
	ck_assert_uint_eq(counted(500, 4, wraps + 950), 700);
	ck_assert_uint_le(tallies[250].count, 2);
	/* A few samples do not stand for what was not seen, now or later. */
	ck_assert_uint_eq(counted(10, 1, wraps + 2000), 10 * WAIT_RAISE);
	ck_assert_uint_eq(counted(10, 4, wraps + 2030), 30);
	/* A part of a wait that goes on counts none. */
	ck_assert_uint_eq(counted(1, 0, wraps + 2040), 0);
	ck_assert_uint_eq(counted(2, 4, wraps + 2050), 20);
}
END_TEST

START_TEST(the_switch_under_way_does_not_count)
{
	ck_assert_uint_eq(counted(1, 1, 100), 1);
	ck_assert_uint_eq(counted(1, 1, 103), 1);
	/* Over time it does. */
	ck_assert_uint_eq(counted(1, 1, 106), 4);
	ck_assert_uint_eq(counted(1, 1, 106), 1);
}
END_TEST

START_TEST(what_is_met_first_stays)
{
	add(1, WAIT_SLEEP, 500, 800, 0);
	add(2, WAIT_RUNNABLE, 20, 0, 0);
	weigh();
	VALUES(500, 20);
	ck_assert_uint_eq(left_ms(), 0);
}
END_TEST

START_TEST(sums_are_the_scheduler_s)
{
	add(1, WAIT_SLEEP, 1, 1000, 100);
	weigh();
	/* Of 900 ms it wanted a CPU for 300. */
	add(1, WAIT_SLEEP, 400, 1500, 300);
	add(1, WAIT_SLEEP, 800, 1600, 350);
	add(1, WAIT_RUNNABLE, 150, 1900, 400);
	weigh();
	VALUES(200, 400, 300);
	ck_assert_uint_eq(left_ms(), 0);
	/* Also after a half in which it was not met. */
	weigh();
	add(1, WAIT_SLEEP, 2000, 3700, 400);
	weigh();
	VALUES(1800);
}
END_TEST

START_TEST(what_was_given_without_account_is_taken_off)
{
	add(1, WAIT_SLEEP, 1, 1000, 0);
	weigh();
	add(1, WAIT_SLEEP, 300, 0, 0);
	weigh();
	VALUES(300);
	add(1, WAIT_SLEEP, 400, 1500, 0);
	weigh();
	VALUES(200);
	/* Too much was given: the next has nothing. */
	add(1, WAIT_SLEEP, 300, 0, 0);
	weigh();
	add(1, WAIT_SLEEP, 100, 1600, 0);
	weigh();
	VALUES(0);
	add(1, WAIT_SLEEP, 500, 2000, 0);
	weigh();
	VALUES(200);
}
END_TEST

START_TEST(without_a_sample_of_one_the_other_has_all)
{
	add(1, WAIT_SLEEP, 1, 1000, 0);
	weigh();
	add(1, WAIT_DISK, 400, 1600, 100);
	weigh();
	VALUES(600);
	add(1, WAIT_RUNNABLE, 300, 2200, 200);
	weigh();
	VALUES(600);
	/* Over time each has its own. */
	add(1, WAIT_SLEEP, 300, 2700, 600);
	add(1, WAIT_RUNNABLE, 300, 3200, 900);
	weigh();
	VALUES(700, 300);
}
END_TEST

START_TEST(a_few_samples_do_not_stand_for_what_was_not_seen)
{
	add(1, WAIT_SLEEP, 1, 1000, 0);
	add(2, WAIT_SLEEP, 1, 1000, 0);
	weigh();
	add(1, WAIT_SLEEP, 10, 1900, 0);
	add(2, WAIT_SLEEP, 20, 9000, 0); /* it slept for longer than the half */
	weigh();
	VALUES(40, 80);
	ck_assert_uint_eq(left_ms(), 860 + 920);
	/* What could not be given any more is not given later. */
	add(2, WAIT_SLEEP, 500, 9500, 0);
	weigh();
	VALUES(500);
	ck_assert_uint_eq(left_ms(), 0);
}
END_TEST

/* A thread that was not seen for long; and an account that was read while it changed. */
START_TEST(no_more_than_the_half_lasted)
{
	add(1, WAIT_SLEEP, 1, 1000, 600);
	weigh();
	add(1, WAIT_SLEEP, 900, 41000, 500);
	add(1, WAIT_RUNNABLE, 0, 41000, 500);
	weigh();
	VALUES(1000, 0);
	ck_assert_uint_eq(left_ms(), 0);
}
END_TEST

START_TEST(another_thread_with_its_number)
{
	add(1, WAIT_SLEEP, 1, 5000, 0);
	weigh();
	add(1, WAIT_SLEEP, 300, 1000, 0);
	weigh();
	VALUES(300);
	add(1, WAIT_SLEEP, 300, 1200, 0);
	weigh();
	VALUES(200);
}
END_TEST

START_TEST(other_kinds_are_left_alone)
{
	add(1, WAIT_SLEEP, 1, 1000, 0);
	weigh();
	add(1, WAIT_SLEEP, 300, 1100, 0);
	add(1, WAIT_SLEEP, 300, 0, 0);
	keys[1].kind = KIND_cpu;
	weigh();
	VALUES(100, 300);
}
END_TEST

START_TEST(more_than_there_is_room_for)
{
	uint32_t raised = 0;

	for (uint64_t round = 1; round < 4; round++) {
		for (uint32_t tid = 1; tid <= MANY; tid++)
			add(tid, WAIT_SLEEP, 100, 1000 * round, 0);
		weigh();
	}
	for (uint32_t i = 0; i < MANY; i++) {
		ck_assert_uint_ge(tallies[i].value, (uint64_t)100 * MS);
		raised += tallies[i].value == (uint64_t)100 * WAIT_RAISE * MS;
	}
	ck_assert_uint_gt(raised, 3500);
	ck_assert_uint_le(raised, THREAD_PLACES);
}
END_TEST

Suite *wait_times_suite(void)
{
	Suite *suite = suite_create("wait_times");
	TCase *tcase = tcase_create("wait_times");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, what_is_met_first_stays);
	tcase_add_test(tcase, sums_are_the_scheduler_s);
	tcase_add_test(tcase, counts_are_the_scheduler_s);
	tcase_add_test(tcase, the_switch_under_way_does_not_count);
	tcase_add_test(tcase, what_was_given_without_account_is_taken_off);
	tcase_add_test(tcase, without_a_sample_of_one_the_other_has_all);
	tcase_add_test(tcase, a_few_samples_do_not_stand_for_what_was_not_seen);
	tcase_add_test(tcase, no_more_than_the_half_lasted);
	tcase_add_test(tcase, another_thread_with_its_number);
	tcase_add_test(tcase, other_kinds_are_left_alone);
	tcase_add_test(tcase, more_than_there_is_room_for);
	suite_add_tcase(suite, tcase);
	return suite;
}
