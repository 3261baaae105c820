/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How much of the loop's time reading events takes.
 */
#include "ingest/event_pace.h"
#include "tests/unit/suites.h"

static struct event_pace pace;
static uint64_t now_ns;

static void set_up(void)
{
	pace = (struct event_pace){0};
	now_ns = 1000 * NSEC_PER_SEC;
}

/* Reads pieces that take so long each, as soon as each may be read. Returns the time that this
 * took of `length_ns`. */
static uint64_t read_for(uint64_t length_ns, uint64_t piece_ns)
{
	const uint64_t end_ns = now_ns + length_ns;
	uint64_t took_ns = 0;

	while (now_ns < end_ns) {
		now_ns += event_pace_wait_ms(&pace, now_ns) * NSEC_PER_MSEC;
		ck_assert_uint_eq(event_pace_wait_ms(&pace, now_ns), 0);
		now_ns += piece_ns;
		took_ns += piece_ns;
		event_pace_spend(&pace, now_ns, piece_ns);
	}
	return took_ns;
}

START_TEST(a_third_in_the_long_run)
{
	static const uint64_t pieces_us[] = {50, 400, 2000, 30000};

	for (size_t i = 0; i < sizeof(pieces_us) / sizeof(pieces_us[0]); i++) {
		uint64_t took_ns = read_for(60 * NSEC_PER_SEC, pieces_us[i] * NSEC_PER_USEC);

		ck_assert_uint_lt(took_ns, 21 * NSEC_PER_SEC);
		ck_assert_uint_gt(took_ns, 17 * NSEC_PER_SEC);
	}
}
END_TEST

/* Reading a full ring takes some 30 ms. */
START_TEST(some_at_once_after_a_pause)
{
	for (int i = 0; i < 20; i++) {
		ck_assert_uint_eq(event_pace_wait_ms(&pace, now_ns), 0);
		now_ns += 2 * NSEC_PER_MSEC;
		event_pace_spend(&pace, now_ns, 2 * NSEC_PER_MSEC);
	}
	read_for(NSEC_PER_SEC, 2 * NSEC_PER_MSEC);
	ck_assert_uint_gt(event_pace_wait_ms(&pace, now_ns), 0);
	now_ns += NSEC_PER_SEC;
	ck_assert_uint_eq(event_pace_wait_ms(&pace, now_ns), 0);
}
END_TEST

/* As on a host whose programs do not report much. */
START_TEST(little_is_never_put_off)
{
	for (int i = 0; i < 1000; i++) {
		now_ns += 50 * NSEC_PER_MSEC;
		ck_assert_uint_eq(event_pace_wait_ms(&pace, now_ns), 0);
		event_pace_spend(&pace, now_ns, 10 * NSEC_PER_MSEC);
		ck_assert_uint_eq(event_pace_wait_ms(&pace, now_ns), 0);
	}
}
END_TEST

Suite *event_pace_suite(void)
{
	Suite *suite = suite_create("event_pace");
	TCase *tcase = tcase_create("event_pace");

	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_test(tcase, a_third_in_the_long_run);
	tcase_add_test(tcase, some_at_once_after_a_pause);
	tcase_add_test(tcase, little_is_never_put_off);
	suite_add_tcase(suite, tcase);
	return suite;
}
