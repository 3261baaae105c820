/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Runs with libprofd-heap.so preloaded, with the rate in KiB that PROFD_HEAP_RATE sets. Each test
 * is a process of its own, so it hears only its own reports.
 */
#include "tests/preload/suites.h"

#include <stdlib.h>

#include "tests/preload/listener.h"

void must_have(const char *file, int line, const char *condition)
{
	struct heard now = heard;

	ck_abort_msg(
		"%s:%d: %s; heard: %llu allocs, %llu frees, %llu live, %llu twice, %llu unpaired",
		file, line, condition, (unsigned long long)now.allocs,
		(unsigned long long)now.frees, (unsigned long long)now.live,
		(unsigned long long)now.twice, (unsigned long long)now.unpaired);
}

double rate(void)
{
	const char *text = getenv("PROFD_HEAP_RATE");

	ck_assert_msg(text != NULL, "PROFD_HEAP_RATE is not set");
	return atof(text) * 1024;
}

int main(void)
{
	SRunner *runner = srunner_create(NULL);
	int failed;

	setenv("CK_DEFAULT_TIMEOUT", "60", 0); /* against hangs, not against slow machines */
#define SUITE(name) srunner_add_suite(runner, name##_suite());
	SUITES(SUITE)
#undef SUITE
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
