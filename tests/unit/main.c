/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Runs every suite of tests/unit/suites.h in one runner, so that the last line of output is check's
 * own summary of all of them. CK_FORK=no runs the tests in this process, for debuggers and
 * sanitizers; CK_RUN_SUITE and CK_RUN_CASE pick some, as check documents.
 */
#include "base/clock.h"
#include "jobs.h"
#include "names/wire.h"
#include "reader/jobs.h"
#include "tests/unit/mortal.h"
#include "tests/unit/suites.h"

#include <stdlib.h>
#include <string.h>

static bool has(const struct reading *reading, const char *text)
{
	return memmem(reading->bytes, reading->len, text, strlen(text)) != NULL;
}

static bool is_endless(const struct reading *reading)
{
	const struct wire_query *query = (const struct wire_query *)(const void *)reading->bytes;

	return reading->job == READER_NAMES && reading->len >= sizeof(*query) &&
	       query->file == ENDLESS_FILE;
}

static void work_for(uint64_t ns)
{
	uint64_t until_ns = clock_mono_ns() + ns;

	while (clock_mono_ns() < until_ns)
		;
}

/* The daemon's own, but for names that it dies over, never gets done with, or says such an error of
 * as one who took it over may. */
static int answer(struct reading *reading, struct buf *out)
{
	if (reading->job == READER_DEMANGLE && has(reading, MORTAL_NAME))
		__builtin_trap();
	if (reading->job == READER_DEMANGLE && has(reading, SLOW_NAME))
		work_for(SLOW_SECONDS * NSEC_PER_SEC);
	while ((reading->job == READER_DEMANGLE && has(reading, ENDLESS_NAME)) ||
	       is_endless(reading))
		__asm__ volatile("");
	if (reading->job == READER_DEMANGLE && has(reading, ERRING_NAME))
		return -atoi((const char *)reading->bytes + strlen(ERRING_NAME));
	return jobs_answer(reading, out);
}

int main(int argc, char **argv)
{
	/* Tests of what asks a reader process run this program. */
	if (reader_wanted(argc, argv))
		return reader_main(argc, argv, answer);

	/* Against hanging, not against a slow machine. */
	setenv("CK_DEFAULT_TIMEOUT", "60", 0);

	SRunner *runner = srunner_create(NULL);

#define SUITE(name) srunner_add_suite(runner, name##_suite());
	SUITES(SUITE)
#undef SUITE

	srunner_run_all(runner, CK_ENV);

	int failed = srunner_ntests_failed(runner);
	int run = srunner_ntests_run(runner);

	srunner_free(runner);
	/* A filter that matches nothing must not look like success. */
	return failed == 0 && run > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
