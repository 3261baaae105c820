/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * When profd reports to the service manager that it works: after progress, four times within the
 * limit, and not otherwise.
 */
#include "tests/unit/suites.h"

#include "base/clock.h"
#include "watchdog.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const uint64_t start_ns = 1000 * NSEC_PER_SEC;

static struct watchdog watchdog_of(const char *usec, const char *pid)
{
	struct watchdog watchdog;

	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	if (usec)
		setenv("WATCHDOG_USEC", usec, 1);
	if (pid)
		setenv("WATCHDOG_PID", pid, 1);
	watchdog_init(&watchdog);
	ck_assert_ptr_null(getenv("WATCHDOG_USEC"));
	ck_assert_ptr_null(getenv("WATCHDOG_PID"));
	return watchdog;
}

START_TEST(a_minute_is_told_of_four_times)
{
	struct watchdog watchdog = watchdog_of("60000000", NULL);
	uint64_t last = 0, told = 0;

	for (uint64_t s = 0; s < 120; s++) {
		if (!watchdog_progress(&watchdog, start_ns + s * NSEC_PER_SEC))
			continue;
		ck_assert(told == 0 || s - last == 15);
		last = s;
		told++;
	}
	ck_assert_uint_eq(told, 8);
}
END_TEST

START_TEST(the_first_progress_after_a_stop_is_told_at_once)
{
	struct watchdog watchdog = watchdog_of("60000000", NULL);

	ck_assert(watchdog_progress(&watchdog, start_ns));
	ck_assert(!watchdog_progress(&watchdog, start_ns + NSEC_PER_SEC));
	ck_assert(watchdog_progress(&watchdog, start_ns + 59 * NSEC_PER_SEC));
	/* The next report is due a quarter later; missed ones are not made up for. */
	ck_assert(!watchdog_progress(&watchdog, start_ns + 60 * NSEC_PER_SEC));
}
END_TEST

START_TEST(a_drain_a_second_keeps_a_limit_of_four)
{
	struct watchdog watchdog = watchdog_of("4000000", NULL);

	for (uint64_t s = 0; s < 10; s++)
		ck_assert(watchdog_progress(&watchdog, start_ns + s * NSEC_PER_SEC));
}
END_TEST

START_TEST(nobody_is_told_who_does_not_ask)
{
	const char *const limits[] = {NULL, "", "0", "-1", "1s", "99999999999999999999"};
	struct watchdog watchdog;

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		watchdog = watchdog_of(limits[i], NULL);
		ck_assert(!watchdog_progress(&watchdog, start_ns));
	}
}
END_TEST

START_TEST(what_is_meant_for_another_process_is_not_ours)
{
	struct watchdog watchdog;
	char own[16];

	snprintf(own, sizeof(own), "%d", getpid());
	watchdog = watchdog_of("4000000", own);
	ck_assert(watchdog_progress(&watchdog, start_ns));
	watchdog = watchdog_of("4000000", "1");
	ck_assert(!watchdog_progress(&watchdog, start_ns));
	watchdog = watchdog_of("4000000", "x");
	ck_assert(!watchdog_progress(&watchdog, start_ns));
}
END_TEST

Suite *watchdog_suite(void)
{
	Suite *suite = suite_create("watchdog");
	TCase *tcase = tcase_create("watchdog");

	tcase_add_test(tcase, a_minute_is_told_of_four_times);
	tcase_add_test(tcase, the_first_progress_after_a_stop_is_told_at_once);
	tcase_add_test(tcase, a_drain_a_second_keeps_a_limit_of_four);
	tcase_add_test(tcase, nobody_is_told_who_does_not_ask);
	tcase_add_test(tcase, what_is_meant_for_another_process_is_not_ours);
	suite_add_tcase(suite, tcase);
	return suite;
}
