/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Runs every suite of tests/unit/suites.h in one runner, so that the last line of output is check's
 * summary of all suites. With UNIT_PART=2/6 it runs every sixth suite, from the second one on.
 * CK_FORK=no runs the tests in this process, for debuggers and sanitizers. CK_RUN_SUITE and
 * CK_RUN_CASE select tests, as check documents.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "jobs.h"
#include "names/wire.h"
#include "reader/jobs.h"
#include "tests/unit/mortal.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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

static void work_for(clockid_t clock, uint64_t ns)
{
	uint64_t until_ns = clock_ns(clock) + ns;

	while (clock_ns(clock) < until_ns)
		;
}

static int open_it(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : 0;
}

/* The daemon's answers, except for questions on which the process must die, hang or be slow, or
 * return an error as an attacker who took over the process could; on one question it opens a file,
 * as such an attacker would. */
static int answer(struct reading *reading, struct buf *out)
{
	if (reading->job == READER_DEMANGLE && has(reading, MORTAL_NAME))
		__builtin_trap();
	if (reading->job == READER_DEMANGLE && has(reading, SLOW_NAME))
		work_for(CLOCK_MONOTONIC, SLOW_SECONDS * NSEC_PER_SEC);
	if (reading->job == READER_DEMANGLE && has(reading, BUSY_NAME))
		work_for(CLOCK_PROCESS_CPUTIME_ID, BUSY_MS * NSEC_PER_MSEC);
	while ((reading->job == READER_DEMANGLE && has(reading, ENDLESS_NAME)) ||
	       is_endless(reading))
		__asm__ volatile("");
	if (reading->job == READER_DEMANGLE && has(reading, ERRING_NAME))
		return -atoi((const char *)reading->bytes + strlen(ERRING_NAME));
	if (reading->job == READER_DEMANGLE && has(reading, OPENED_NAME))
		return open_it(OPENED_NAME);
	return jobs_answer(reading, out);
}

/* Every `parts`th suite from number `part` on; the first suite has number 1. */
struct share {
	unsigned part, parts;
};

/* Reads UNIT_PART; without it, all suites run. False when UNIT_PART is not understood. */
static bool share_wanted(struct share *share)
{
	const char *text = getenv("UNIT_PART");
	int end = 0;

	*share = (struct share){1, 1};
	if (!text)
		return true;
	return sscanf(text, "%u/%u%n", &share->part, &share->parts, &end) == 2 && !text[end] &&
	       share->part >= 1 && share->part <= share->parts;
}

/* Suites are selected by their place in the list, so that a part need not know about the others. */
static SRunner *runner_of(struct share share)
{
	SRunner *runner = srunner_create(NULL);
	unsigned place = 0;

#define SUITE(name)                                  \
	if (place++ % share.parts == share.part - 1) \
		srunner_add_suite(runner, name##_suite());
	SUITES(SUITE)
#undef SUITE
	return runner;
}

int main(int argc, char **argv)
{
	struct share share;

	/* Tests that ask a reader process run this program as one. */
	if (reader_wanted(argc, argv))
		return reader_main(argc, argv, answer);

	/* Bounds tests that hang; long enough for a slow machine. */
	setenv("CK_DEFAULT_TIMEOUT", "60", 0);
	if (!share_wanted(&share)) {
		fputs("UNIT_PART: not N/M\n", stderr);
		return EXIT_FAILURE;
	}

	SRunner *runner = runner_of(share);

	srunner_run_all(runner, CK_ENV);

	int failed = srunner_ntests_failed(runner);
	int run = srunner_ntests_run(runner);

	srunner_free(runner);
	/* A filter that matches nothing must not look like success. */
	return failed == 0 && run > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
