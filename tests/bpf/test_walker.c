/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Runs the walker's suites. CK_FORK=no and CK_RUN_SUITE are variables of the check library.
 */
#include "tests/bpf/suites.h"

#include <stdlib.h>

int main(void)
{
	SRunner *runner = srunner_create(recorded_x86_suite());
	int failed, run;

	srunner_add_suite(runner, recorded_arm64_suite());
	srunner_add_suite(runner, deep_suite());
	srunner_add_suite(runner, hostile_suite());
	srunner_add_suite(runner, stack_keys_suite());
	srunner_add_suite(runner, stack_shares_suite());
	srunner_add_suite(runner, growth_seats_suite());
	srunner_add_suite(runner, python_suite());
	srunner_add_suite(runner, python_told_suite());
	srunner_add_suite(runner, python_hostile_suite());
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	run = srunner_ntests_run(runner);
	srunner_free(runner);
	/* A filter that matches nothing must not look like success. */
	return failed == 0 && run > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
