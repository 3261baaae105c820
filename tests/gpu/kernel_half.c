/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the kernel half counts and reports about GPU calls, compared with the calls that were made;
 * once with uprobe sessions, if the kernel has them, and once without.
 */
#include "base/accounts.h"
#include "tests/gpu/cases.h"
#include "tests/gpu/watched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int sessions;

static void attach(void)
{
	ck_assert_int_eq(stage_attach(&stage, sites, site_count, sessions), 0);
}

static Suite *suite(const char *name)
{
	TCase *const cases[] = {calls_case(), memory_case(), many_case(), ring_case()};
	Suite *suite = suite_create(name);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tcase_add_checked_fixture(cases[i], attach, look);
		tcase_set_timeout(cases[i], 60);
		suite_add_tcase(suite, cases[i]);
	}
	return suite;
}

/* The range of MANY_USER among some others. */
static void set_accounts(void)
{
	char subuid[256];

	snprintf(subuid, sizeof(subuid),
	         "1000:100000:65536\n1001:165536:65536\n%d:%d:%d\n7:900000:5\n", MANY_USER,
	         MANY_FIRST_SUBORDINATE, MANY_SUBORDINATES);
	accounts_set((struct text){subuid, subuid + strlen(subuid)}, (struct text){0});
}

int main(void)
{
	SRunner *runner = srunner_create(NULL);
	int failed;

	set_accounts();
	if (stage_open(&stage, keep_event, NULL))
		return EXIT_FAILURE;
	/* A single process, which is the one that is probed. */
	srunner_set_fork_status(runner, CK_NOFORK);
	sessions = stage_attach(&stage, sites, site_count, 1) == 0;
	srunner_add_suite(runner, suite(sessions ? "sessions" : "entries and returns"));
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	if (sessions) {
		SRunner *again = srunner_create(suite("entries and returns"));

		sessions = 0;
		srunner_set_fork_status(again, CK_NOFORK);
		srunner_run_all(again, CK_ENV);
		failed += srunner_ntests_failed(again);
		srunner_free(again);
	}
	srunner_free(runner);
	stage_close(&stage);
	accounts_clear();
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
