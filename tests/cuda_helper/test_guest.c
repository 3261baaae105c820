/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The library is a guest: it shares CUPTI with other profilers, CUPTI may drop records, and the
 * program has signals and descriptors of its own.
 */
#include "cuda_helper/counters.h"
#include "tests/cuda_helper/heard.h"
#include "tests/cuda_helper/program.h"
#include "tests/cuda_helper/suites.h"

#include <dlfcn.h>
#include <glob.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The library writes one line, however often it tries, and the program continues. */
START_TEST(test_held_by_another)
{
	int lines = catch_lines();
	const char *said, *newline;

	hold(1);
	heard_listen(true);
	ck_assert_int_eq(InitializeInjection(), 1);
	settle();
	launch_cycles(10);
	said = lines_said(lines);
	newline = strchr(said, '\n');
	ck_assert_ptr_nonnull(newline);
	ck_assert_str_eq(newline, "\n");
	ck_assert_ptr_nonnull(strstr(said, "another profiler"));
	ck_assert(!strstr(cupti_path, ".13") || strstr(said, "the other one"));
	ck_assert_uint_eq(counts_now().refused, 1);
	ck_assert_uint_eq(counts_now().calls, 0);
}
END_TEST

/* Another profiler keeps CUPTI while profd listens. The library tries again when profd starts to
 * listen again. */
START_TEST(test_asks_again)
{
	int lines = catch_lines();
	const char *said;

	for (int i = 0; i < 3; i++) {
		hold(i < 2);
		heard_listen(true);
		ck_assert_int_eq(InitializeInjection(), 1);
		settle();
		hold(0);
		settle();
		ck_assert_uint_eq(counts_now().refused, i < 2 ? i + 1 : 2);
		ck_assert_uint_eq(counts_now().subscribed, i == 2);
		heard_listen(false);
		settle();
	}
	said = lines_said(lines);
	ck_assert_ptr_nonnull(strchr(said, '\n'));
	ck_assert_str_eq(strchr(said, '\n'), "\n");
}
END_TEST

/* The library writes nothing to a file that the program has opened in place of standard error. */
START_TEST(test_closed_descriptors)
{
	char path[] = "/tmp/profd-test-XXXXXX";
	struct stat file;
	int at = mkstemp(path);

	ck_assert_int_ge(at, 0);
	unlink(path);
	ck_assert_int_eq(InitializeInjection(), 1);
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	ck_assert_int_eq(dup2(at, STDERR_FILENO), STDERR_FILENO);
	hold(1);
	heard_listen(true);
	settle();
	ck_assert_uint_eq(counts_now().refused, 1);
	ck_assert_int_eq(fstat(at, &file), 0);
	ck_assert_int_eq(file.st_size, 0);
}
END_TEST

/* The value of a field in /proc/self/task/TID/status of the library's thread. */
static uint64_t thread_status(const char *name)
{
	glob_t found;
	uint64_t value = 0;

	ck_assert_int_eq(glob("/proc/self/task/[0-9]*", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char path[64], line[128];
		bool is_ours = false;
		FILE *file;

		snprintf(path, sizeof(path), "%s/status", found.gl_pathv[i]);
		file = fopen(path, "r");
		while (file && fgets(line, sizeof(line), file)) {
			is_ours |= strcmp(line, "Name:\tprofd-cuda\n") == 0;
			if (is_ours && strncmp(line, name, strlen(name)) == 0)
				value = strtoull(line + strlen(name), NULL, 16);
		}
		if (file)
			fclose(file);
	}
	globfree(&found);
	return value;
}

/* The library's thread blocks the program's signals, but not those that a thread causes itself. */
START_TEST(test_signals)
{
	static const int blocked[] = {SIGTERM, SIGINT, SIGPIPE, SIGCHLD, SIGALRM, SIGUSR1, SIGPROF};
	static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
	sigset_t before, after;
	uint64_t mask;

	pthread_sigmask(SIG_SETMASK, NULL, &before);
	ck_assert_int_eq(InitializeInjection(), 1);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (int signal = 1; signal < NSIG; signal++)
		ck_assert_int_eq(sigismember(&before, signal), sigismember(&after, signal));
	settle();
	mask = thread_status("SigBlk:");
	for (size_t i = 0; i < sizeof(blocked) / sizeof(blocked[0]); i++)
		ck_assert_msg(mask >> (blocked[i] - 1) & 1, "%d is not blocked", blocked[i]);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		ck_assert_msg(!(mask >> (own[i] - 1) & 1), "%d is blocked", own[i]);
}
END_TEST

/* Any thread that sleeps by these calls, or opens a file, kills the program. */
static void forbid_calls(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_nanosleep, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_nanosleep, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	const struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(
		syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program),
		0);
}

/* A program that forbids itself many calls continues while no profiler listens. */
START_TEST(test_forbidden_calls)
{
	int status;
	pid_t child = fork();

	if (!child) {
		InitializeInjection();
		forbid_calls();
		poll(NULL, 0, 1300);
		_exit(counts_now().subscribed ? 1 : 0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}
END_TEST

static void launch_one_more(const struct fake_kernel *kernel, int unfinished)
{
	launch_fake(&(struct fake_launch){
		.runtime = 211,
		.driver = 307,
		.handle = 77,
		.unfinished = unfinished,
		.kernels = kernel,
		.count = 1,
	});
}

/* A kernel that runs when recording ends gets no time, and its buffer comes back. Where other
 * subscribers are possible, no buffer is forced. */
START_TEST(test_unfinished)
{
	const struct fake_kernel kernel = {middle, 7};
	struct fake_counts counts;
	bool is_13 = strstr(cupti_path, ".13");

	heard_listen(true);
	InitializeInjection();
	launch_one_more(&kernel, 1);
	settle();
	counts = counts_now();
	ck_assert_uint_eq(counts.requests, 1);
	ck_assert_uint_eq(counts.completed, 0);
	heard_listen(false);
	settle();
	counts = counts_now();
	ck_assert_uint_eq(counts.unsubscribed, 1);
	ck_assert_uint_eq(counts.completed, !is_13);
}
END_TEST

/* When CUPTI holds all buffers, the records that it drops are reported as dropped. */
START_TEST(test_dropped)
{
	const char name[] = "[kernels that CUPTI dropped]";
	uint64_t dropped;

	heard_listen(true);
	InitializeInjection();
	keep_buffers(1);
	launch_cycles(1500); /* 16 buffers have room for about 13000 records */
	dropped = counts_now().dropped;
	ck_assert_uint_gt(dropped, 1000);
	keep_buffers(0);
	settle();
	launch_cycles(1);
	settle();
	ck_assert_uint_eq(counts_now().dropped, dropped);
	ck_assert_uint_eq(profd_cuda_counters.dropped, dropped);
	ck_assert_uint_ge(profd_cuda_counters.no_buffer, dropped);
	ck_assert_uint_eq(heard_name(name)->kernels, dropped);
	ck_assert_uint_eq(heard_name(name)->ns, 0);
}
END_TEST

/* A CUPTI of CUDA 13 is not called at all when the driver is older. */
START_TEST(test_older_driver)
{
	bool is_13 = strstr(cupti_path, ".13");
	int lines = catch_lines();

	ck_assert_ptr_nonnull(dlopen(driver_path, RTLD_NOW));
	heard_listen(true);
	ck_assert_int_eq(InitializeInjection(), 1);
	settle();
	ck_assert_uint_eq(counts_now().subscribed, !is_13);
	ck_assert_str_eq(lines_said(lines),
	                 is_13 ? "libprofd-cuda: kernel durations are not recorded: "
	                         "libcupti.so is of CUDA 13 and the driver "
	                         "is older\n"
	                       : "");
}
END_TEST

TCase *guest_case(void)
{
	TCase *tcase = tcase_create("guest");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, program_begin, NULL);
	tcase_add_test(tcase, test_held_by_another);
	tcase_add_test(tcase, test_asks_again);
	tcase_add_test(tcase, test_older_driver);
	tcase_add_test(tcase, test_closed_descriptors);
	tcase_add_test(tcase, test_signals);
	tcase_add_test(tcase, test_forbidden_calls);
	tcase_add_test(tcase, test_unfinished);
	tcase_add_test(tcase, test_dropped);
	return tcase;
}
