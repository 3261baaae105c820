/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Whose memory is read: a pid is that of the process that had it before only if that process still
 * exists.
 */
#include "proc/process_memory.h"

#include "base/clock.h"
#include "tests/unit/suites.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(a_process_that_had_begun)
{
	uint32_t pid = (uint32_t)getpid();

	usleep(30 * 1000);
	ck_assert(process_memory_is_since(pid, clock_mono_ns()));
	ck_assert(!process_memory_is_since(pid, 0));
}
END_TEST

START_TEST(one_that_has_begun_since)
{
	uint64_t before_ns = clock_mono_ns();
	pid_t child;

	usleep(30 * 1000);
	child = fork();
	if (child == 0)
		for (;;)
			pause();
	ck_assert_int_gt(child, 0);
	ck_assert(!process_memory_is_since((uint32_t)child, before_ns));
	usleep(30 * 1000);
	ck_assert(process_memory_is_since((uint32_t)child, clock_mono_ns()));
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	/* It is gone now, and so is no process of any time. */
	ck_assert(!process_memory_is_since((uint32_t)child, clock_mono_ns()));
	ck_assert(!process_memory_is_since((uint32_t)child, UINT64_MAX / 2));
}
END_TEST

Suite *process_memory_suite(void)
{
	Suite *suite = suite_create("process_memory");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, a_process_that_had_begun);
	tcase_add_test(tests, one_that_has_begun_since);
	suite_add_tcase(suite, tests);
	return suite;
}
