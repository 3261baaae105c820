/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How long a tick has already stopped the CPU: more than nothing, and less than an interrupt takes
 * on any machine.
 */
#include "cpu/tick_lag.h"

#include "base/clock.h"
#include "tests/unit/suites.h"

#include <unistd.h>

START_TEST(a_tick_stops_the_cpu_before_its_program_reads_the_clock)
{
	uint64_t lag_ns = tick_lag_measure_ns();

	ck_assert_uint_lt(lag_ns, NSEC_PER_MSEC);
	if (geteuid() == 0)
		ck_assert_uint_gt(lag_ns, 0);
}
END_TEST

Suite *tick_lag_suite(void)
{
	Suite *suite = suite_create("tick_lag");
	TCase *tests = tcase_create("tick_lag");

	tcase_add_test(tests, a_tick_stops_the_cpu_before_its_program_reads_the_clock);
	suite_add_tcase(suite, tests);
	return suite;
}
