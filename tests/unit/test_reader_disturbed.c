/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A reader process that other processes stop, kill or hold, or keep from the CPUs, which is not the
 * fault of a file.
 */
#include "reader/reader.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "reader/process_time.h"
#include "tests/unit/lacks.h"
#include "tests/unit/mortal.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct reader_program program = {READER_SELF, "test", 256 << 20, 0};

static int accept_all(const uint8_t *bytes, size_t len, void *ctx)
{
	(void)bytes, (void)len, (void)ctx;
	return 0;
}

static int ask_name(struct reader *reader, const char *name, uint64_t file)
{
	const struct reader_query query = {
		.question = {.job = READER_DEMANGLE,
	                     .fds = {-1, -1, -1},
	                     .pieces = {{name, strlen(name) + 1}}},
		.file = file,
		.check = accept_all,
	};
	struct reader_reply reply;
	int err = reader_ask(reader, &query, &reply);

	if (err == 0)
		free(reply.bytes);
	return err;
}

/* Asks about the file with that number; the process answers -ENOENT. */
static int ask(struct reader *reader, uint64_t file)
{
	return ask_name(reader, ERRING_NAME "2", file);
}

static void nap(uint64_t ms)
{
	const struct timespec time = {(time_t)(ms / 1000), (long)(ms % 1000 * NSEC_PER_MSEC)};

	nanosleep(&time, NULL);
}

static struct reader_stats stats_of_reader(const struct reader *reader)
{
	struct reader_stats stats = {0};

	reader_add_stats(reader, &stats);
	return stats;
}

/* A stopped process is replaced long before the deadline. */
START_TEST(stopped_by_others)
{
	_cleanup_(reader_freep) struct reader *reader = reader_new(&program);
	uint64_t begun;

	ck_assert_int_eq(ask(reader, 1), -ENOENT);
	ck_assert_int_eq(kill(reader_pid(reader), SIGSTOP), 0);
	begun = clock_mono_ns();
	ck_assert_int_eq(ask(reader, 1), -ENOENT);
	ck_assert_uint_lt(clock_mono_ns() - begun, 10 * NSEC_PER_SEC);
	struct reader_stats stats = stats_of_reader(reader);
	ck_assert_uint_eq(stats.starts, 2);
	ck_assert_uint_eq(stats.disturbed, 1);
	ck_assert_uint_eq(stats.crashes + stats.files_failed, 0);
}
END_TEST

/* Starts a process that kills the reader processes of this one until it is itself killed. */
static pid_t killer(void)
{
	pid_t parent = getpid(), pid = fork();
	char path[64], line[64];

	if (pid)
		return pid;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", parent, parent);
	for (;;) {
		/* The reader process first gets time for its hello. */
		nap(300);
		_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t len = read(fd, line, sizeof(line) - 1);

		line[len > 0 ? len : 0] = '\0';
		for (char *at = line, *end; strtol(at, &end, 10); at = end)
			if (strtol(at, NULL, 10) != getpid())
				kill((pid_t)strtol(at, NULL, 10), SIGKILL);
	}
}

/* The process is killed over the same file each time, as by the kernel when memory is short. The
 * file is put aside, not given up, and other files are asked about. */
START_TEST(killed_by_others)
{
	_cleanup_(reader_freep) struct reader *reader = reader_new(&program);

	pid_t pid = killer();
	int err = ask_name(reader, ENDLESS_NAME, 77);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(err, -ECHILD);
	struct reader_stats stats = stats_of_reader(reader);
	ck_assert_uint_eq(stats.disturbed, 2);
	ck_assert_uint_eq(stats.crashes + stats.files_failed, 0);
	ck_assert_int_eq(ask_name(reader, ENDLESS_NAME, 77), -ECHILD);
	ck_assert_uint_eq(stats_of_reader(reader).starts, 2);
	ck_assert_int_eq(ask(reader, 1), -ENOENT);
}
END_TEST

/* The process misses its deadline but has used little CPU time, so the file may not be to blame.
 * Its parent does not see a process that a tracer holds as stopped. */
START_TEST(kept_from_working)
{
	_cleanup_(reader_freep) struct reader *reader = reader_new(&program);
	int pipes[2];
	char byte;

	ck_assert_int_eq(ask(reader, 1), -ENOENT);
	pid_t held = reader_pid(reader);
	ck_assert_int_eq(pipe(pipes), 0);
	pid_t tracer = fork();
	if (tracer == 0) {
		if (ptrace(PTRACE_SEIZE, held, 0, 0) || ptrace(PTRACE_INTERRUPT, held, 0, 0) ||
		    waitpid(held, NULL, __WALL) != held || write(pipes[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(pipes[1]);
	ck_assert_int_eq(read(pipes[0], &byte, 1), 1);
	close(pipes[0]);
	reader_deadline(reader, NSEC_PER_SEC);
	ck_assert_int_eq(ask(reader, 1), -ECHILD);
	reader_deadline(reader, 30 * NSEC_PER_SEC);
	struct reader_stats stats = stats_of_reader(reader);
	ck_assert_uint_eq(stats.disturbed, 1);
	ck_assert_uint_eq(stats.crashes + stats.files_failed, 0);
	/* The file is put aside for a minute; other files are asked about. */
	ck_assert_int_eq(ask(reader, 1), -ECHILD);
	ck_assert_int_eq(ask(reader, 2), -ENOENT);
	kill(tracer, SIGKILL);
	waitpid(tracer, NULL, 0);
}
END_TEST

enum { MAX_HOGS = 15 };

/* Processes that share one CPU with this one and its children. Each is a session of its own,
 * because the scheduler may share the CPU among sessions. */
static pid_t hogs[MAX_HOGS];

static void start_hogs(size_t count)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	for (size_t i = 0; i < count; i++) {
		hogs[i] = fork();
		ck_assert_int_ge(hogs[i], 0);
		if (hogs[i])
			continue;
		if (setsid() < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL))
			_exit(1);
		for (;;)
			;
	}
}

static void stop_hogs(void)
{
	for (size_t i = 0; i < MAX_HOGS && hogs[i] > 0; i++) {
		kill(hogs[i], SIGKILL);
		waitpid(hogs[i], NULL, 0);
		hogs[i] = 0;
	}
}

static bool waits_are_not_counted(void)
{
	nap(200);
	return host_lacks(process_wait_ns(hogs[0]) > 0, "counts of waits for a CPU (SCHED_INFO)");
}

/* The process has the CPU for a part of the time only, and answers long after its deadline. */
START_TEST(late_for_want_of_a_cpu)
{
	_cleanup_(reader_freep) struct reader *reader = reader_new(&program);

	start_hogs(3);
	ck_assert_int_eq(ask(reader, 1), -ENOENT);
	if (waits_are_not_counted())
		return;
	reader_deadline(reader, 2 * BUSY_MS * NSEC_PER_MSEC);
	reader_longest(reader, 50 * NSEC_PER_SEC);
	uint64_t begun = clock_mono_ns();
	ck_assert_int_eq(ask_name(reader, ERRING_NAME "2 " BUSY_NAME, 1), -ENOENT);
	ck_assert_uint_ge(clock_mono_ns() - begun, 2 * BUSY_MS * NSEC_PER_MSEC);
	struct reader_stats stats = stats_of_reader(reader);
	ck_assert_uint_eq(stats.starts, 1);
	ck_assert_uint_eq(stats.disturbed + stats.crashes + stats.files_failed, 0);
	/* One that has used its time on the CPU is given up. */
	reader_deadline(reader, BUSY_MS * NSEC_PER_MSEC / 2);
	ck_assert_int_eq(ask_name(reader, ENDLESS_NAME, 2), -EIO);
	ck_assert_uint_eq(stats_of_reader(reader).files_failed, 1);
}
END_TEST

/* Asks about an endless file, with a process that has been started before. */
static int ask_hurried(struct reader *reader)
{
	reader_deadline(reader, 30 * NSEC_PER_SEC);
	ck_assert_int_eq(ask(reader, 1), -ENOENT);
	reader_deadline(reader, 300 * NSEC_PER_MSEC);
	return ask_name(reader, ENDLESS_NAME, 2);
}

/* The process has next to nothing of the CPU, each time. The file is put aside, for longer each
 * time, and is asked about again when the CPU is free. */
START_TEST(kept_from_the_cpus)
{
	_cleanup_(reader_freep) struct reader *reader = reader_new(&program);

	start_hogs(MAX_HOGS);
	if (waits_are_not_counted())
		return;
	reader_longest(reader, 600 * NSEC_PER_MSEC);
	for (uint64_t times = 1; times <= 3; times++) {
		ck_assert_int_eq(ask_hurried(reader), -ECHILD);
		struct reader_stats stats = stats_of_reader(reader);
		ck_assert_uint_eq(stats.disturbed, times);
		ck_assert_uint_eq(stats.crashes + stats.files_failed, 0);
		/* It is put aside now, which costs no process. */
		ck_assert_int_eq(ask_name(reader, ENDLESS_NAME, 2), -ECHILD);
		ck_assert_uint_eq(stats_of_reader(reader).disturbed, times);
		nap(600 << (times - 1));
	}
	stop_hogs();
	reader_longest(reader, 30 * NSEC_PER_SEC);
	ck_assert_int_eq(ask_hurried(reader), -EIO);
	ck_assert_uint_eq(stats_of_reader(reader).files_failed, 1);
}
END_TEST

Suite *disturbed_suite(void)
{
	Suite *suite = suite_create("disturbed");
	TCase *all = tcase_create("all"), *busy = tcase_create("busy");

	tcase_add_test(all, stopped_by_others);
	tcase_add_test(all, killed_by_others);
	tcase_add_test(all, kept_from_working);
	tcase_add_checked_fixture(busy, NULL, stop_hogs);
	tcase_add_test(busy, late_for_want_of_a_cpu);
	tcase_add_test(busy, kept_from_the_cpus);
	suite_add_tcase(suite, all);
	suite_add_tcase(suite, busy);
	return suite;
}
