/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The CPU time that child processes have used: no time is counted twice, goes back or is missing
 * while children are reaped.
 */
#include "tests/unit/suites.h"

#include "base/clock.h"
#include "reader/living.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The kernel reports a child's time, and its parts, in whole microseconds. */
enum { ROUNDING_NS = 2000 };

/* Starts a child that uses this much CPU time and then stops. */
static pid_t start_child(uint64_t cpu_ns)
{
	siginfo_t info;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < cpu_ns)
			;
		raise(SIGSTOP);
		_exit(0);
	}
	living_add(pid);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WSTOPPED), 0);
	return pid;
}

static void end_child(pid_t pid)
{
	siginfo_t info;

	ck_assert_int_eq(living_reap(pid), 0);
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	ck_assert_int_eq(living_reap(pid), pid);
}

static uint64_t reaped_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NSEC_PER_SEC +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * NSEC_PER_USEC;
}

START_TEST(from_start_to_end)
{
	const uint64_t used_ns = 30 * NSEC_PER_MSEC;
	uint64_t before = living_cpu_ns(), alive;
	pid_t pids[MAX_READER_PROCESSES];
	pid_t pid = start_child(used_ns);

	ck_assert_uint_eq(living_pids(pids), 1);
	ck_assert_int_eq(pids[0], pid);
	alive = living_cpu_ns();
	ck_assert_uint_ge(alive, before + used_ns);
	end_child(pid);
	ck_assert_uint_eq(living_pids(pids), 0);
	ck_assert_uint_ge(living_cpu_ns(), alive);
	ck_assert_uint_le(living_cpu_ns(), reaped_ns() + ROUNDING_NS);
}
END_TEST

static bool stop;

/* Reads all the time. If a child were counted twice, the figure would stay too high. */
static void *read_on(void *ctx)
{
	uint64_t latest = 0;

	(void)ctx;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		uint64_t now = living_cpu_ns();

		if (now < latest)
			return &stop;
		latest = now;
	}
	return NULL;
}

START_TEST(while_they_are_reaped)
{
	enum { CHILDREN = 40 };
	pthread_t reader;
	void *failed;

	stop = false;
	ck_assert_int_eq(pthread_create(&reader, NULL, read_on, NULL), 0);
	for (int i = 0; i < CHILDREN; i++)
		end_child(start_child(2 * NSEC_PER_MSEC));
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(reader, &failed);
	ck_assert_ptr_null(failed);
	ck_assert_uint_ge(living_cpu_ns(), reaped_ns());
	ck_assert_uint_le(living_cpu_ns(), reaped_ns() + ROUNDING_NS);
}
END_TEST

Suite *living_suite(void)
{
	Suite *suite = suite_create("living");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, from_start_to_end);
	tcase_add_test(tests, while_they_are_reaped);
	suite_add_tcase(suite, tests);
	return suite;
}
