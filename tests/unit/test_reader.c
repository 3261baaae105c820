/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A reader process, which is this program: its privileges, when it ends, and which questions it
 * accepts.
 */
#include "reader/reader.h"

#include "base/buf.h"
#include "base/clock.h"
#include "jobs.h"
#include "object/links.h"
#include "reader/filter.h"
#include "reader/landlock.h"
#include "reader/lingering.h"
#include "reader/living.h"
#include "reader/user.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/mortal.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

static const struct reader_program program = {READER_SELF, "test", 256 << 20, 0};

static int accept_all(const uint8_t *bytes, size_t len, void *ctx)
{
	(void)bytes, (void)len, (void)ctx;
	return 0;
}

/* Asks about an image; the question has that many words. */
static int ask(struct reader *reader, uint32_t job, size_t words)
{
	const uint64_t question[] = {1, 0x401010, 0x401000};
	struct reader_reply reply;
	struct elf_image image;

	elf_image_init(&image, 1);
	_cleanup_close_ int fd = elf_image_fd(&image, sizeof(image));
	struct reader_query query = {
		.question = {.job = job,
	                     .fds = {fd, -1, -1},
	                     .pieces = {{question, words * sizeof(*question)}}},
		.file = words,
		.no_file = !words,
		.check = accept_all,
	};
	int err = reader_ask(reader, &query, &reply);
	if (err == 0)
		free(reply.bytes);
	return err;
}

static void expect_status(const char *status, const char *field, const char *value)
{
	char line[128];

	snprintf(line, sizeof(line), "\n%s:\t%s\n", field, value);
	ck_assert_msg(strstr(status, line), "no %s in %s", line + 1, status);
}

START_TEST(privileges)
{
	static const char *const capabilities[] = {"CapInh", "CapPrm", "CapEff", "CapBnd",
	                                           "CapAmb"};
	_cleanup_(reader_freep) struct reader *reader = reader_new(&program);
	struct buf status = BUF_INIT;
	char path[64];

	ck_assert_int_eq(ask(reader, READER_NAMES, 2), 0);
	snprintf(path, sizeof(path), "/proc/%d/status", (int)reader_pid(reader));
	ck_assert_int_eq(buf_read_file(&status, path, 1 << 16), 0);
	const char *text = buf_text(&status);
	ck_assert_ptr_nonnull(strstr(text, "Name:\tprofd-test\n"));
	expect_status(text, "NoNewPrivs", "1");
	if (filter_works())
		expect_status(text, "Seccomp", "2");
	if (geteuid() == 0) {
		char ids[64];
		unsigned int id = user_pick(USER_OF_READER);

		ck_assert_uint_ge(id, CONTAINER_USER_FIRST);
		snprintf(ids, sizeof(ids), "%u\t%u\t%u\t%u", id, id, id, id);
		expect_status(text, "Uid", ids);
		expect_status(text, "Gid", ids);
		expect_status(text, "Groups", " ");
		for (size_t i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]); i++)
			expect_status(text, capabilities[i], "0000000000000000");
	}
	buf_release(&status);
}
END_TEST

static int open_by_name(struct reader *reader)
{
	const struct reader_query query = {
		.question = {.job = READER_DEMANGLE,
	                     .fds = {-1, -1, -1},
	                     .pieces = {{OPENED_NAME, sizeof(OPENED_NAME)}}},
		.no_file = true,
		.check = accept_all,
	};
	struct reader_reply reply;
	int err = reader_ask(reader, &query, &reply);

	if (err == 0)
		free(reply.bytes);
	return err;
}

/* Without Landlock, or with sanitizers, the process may open files by name. */
START_TEST(opens_nothing_by_name)
{
	_cleanup_(reader_freep) struct reader *reader = reader_new(&program);
	_cleanup_(reader_freep) struct reader *namer = reader_new(&program);
	int refusal = filter_works() && landlock_known().files ? -EACCES : 0;

	ck_assert_int_eq(open_by_name(reader), refusal);
	/* The process reads a file whose descriptor it gets. */
	ck_assert_int_eq(ask(reader, READER_NAMES, 2), 0);
	reader_let_names(namer);
	ck_assert_int_eq(open_by_name(namer), 0);
}
END_TEST

/* The child dies like a killed daemon, and this process inherits its reader process. */
START_TEST(dies_with_the_daemon)
{
	int pipes[2], status;
	pid_t orphan;

	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	ck_assert_int_eq(pipe(pipes), 0);
	pid_t daemon_pid = fork();
	if (daemon_pid == 0) {
		struct reader *reader = reader_new(&program);
		ck_assert_int_eq(ask(reader, READER_NAMES, 2), 0);
		orphan = reader_pid(reader);
		/* Stopped, so that the closed socket is not what ends the process. */
		kill(orphan, SIGSTOP);
		_exit(write(pipes[1], &orphan, sizeof(orphan)) != sizeof(orphan));
	}
	ck_assert_int_eq(read(pipes[0], &orphan, sizeof(orphan)), sizeof(orphan));
	ck_assert_int_eq(waitpid(daemon_pid, &status, 0), daemon_pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(waitpid(orphan, &status, 0), orphan);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGKILL);
	close(pipes[0]);
	close(pipes[1]);
}
END_TEST

/* The program's file appears at once, but is not looked for again before a second has passed. */
START_TEST(starts_are_spaced)
{
	char folder[] = "/tmp/profd-reader-XXXXXX", path[64];
	uint64_t begun = clock_mono_ns();

	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/program", folder);
	const struct reader_program late = {path, "test", 256 << 20, 0};
	_cleanup_(reader_freep) struct reader *reader = reader_new(&late);
	ck_assert_int_eq(ask(reader, READER_NAMES, 2), -ECHILD);
	ck_assert_int_eq(symlink(READER_SELF, path), 0);
	int err;
	do
		err = ask(reader, READER_NAMES, 2);
	while (err == -ECHILD && clock_mono_ns() - begun < 30 * NSEC_PER_SEC);
	ck_assert_int_eq(err, 0);
	ck_assert_uint_ge(clock_mono_ns() - begun, NSEC_PER_SEC);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

static void nap(uint64_t ms)
{
	const struct timespec time = {(time_t)(ms / 1000), (long)(ms % 1000 * NSEC_PER_MSEC)};

	nanosleep(&time, NULL);
}

static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	return pid;
}

/* A lingering process takes a place, whoever started it, until it is dead; it is then reaped. */
START_TEST(lingering)
{
	pid_t pids[MAX_LINGERING_OF_NAME];
	struct reader_stats stats = {0};
	siginfo_t info = {0};

	for (size_t i = 0; i < MAX_LINGERING_OF_NAME; i++) {
		ck_assert_int_eq(lingering_begin("test"), 0);
		lingering_end("test", pids[i] = sleeper(), 0);
	}
	ck_assert_uint_eq(lingering_reap(), MAX_LINGERING_OF_NAME);
	ck_assert_int_eq(lingering_begin("test"), -EBUSY);
	ck_assert_int_eq(lingering_begin("other"), 0);
	lingering_end("other", 0, 0);
	for (int i = 0; i < 2; i++) {
		_cleanup_(reader_freep) struct reader *reader = reader_new(&program);

		ck_assert_int_eq(ask(reader, READER_NAMES, 2), -ECHILD);
		reader_add_stats(reader, &stats);
	}
	ck_assert_uint_eq(stats.refused, 2);
	ck_assert_uint_eq(stats.starts, 0);
	ck_assert_int_eq(kill(pids[3], SIGKILL), 0);
	/* The zombie is left to its owner, the list of lingering processes. */
	ck_assert_int_eq(waitid(P_PID, (id_t)pids[3], &info, WEXITED | WNOWAIT), 0);
	_cleanup_(reader_freep) struct reader *reader = reader_new(&program);
	ck_assert_int_eq(ask(reader, READER_NAMES, 2), 0);
	ck_assert_int_eq(kill(pids[3], 0), -1);
	for (size_t i = 0; i < MAX_LINGERING_OF_NAME; i++)
		if (i != 3)
			ck_assert_int_eq(kill(pids[i], SIGKILL), 0);
	while (lingering_reap())
		nap(10);
}
END_TEST

/* Few processes may linger over files of one user; other users' files are still asked about. */
START_TEST(lingering_over_files_of_a_user)
{
	const uint64_t slow_user = READER_USER(1000), other_user = READER_USER(0);
	_cleanup_(reader_freep) struct reader *reader = reader_new(&program);
	struct reader_stats stats = {0};
	pid_t pids[MAX_LINGERING_OF_USER];

	reader_of_user(reader, slow_user);
	for (size_t i = 0; i < MAX_LINGERING_OF_USER; i++) {
		ck_assert_int_eq(ask(reader, READER_NAMES, 2), 0);
		ck_assert_int_eq(lingering_begin("test"), 0);
		lingering_end("test", pids[i] = sleeper(), slow_user);
	}
	ck_assert_int_eq(ask(reader, READER_NAMES, 2), -ECHILD);
	reader_add_stats(reader, &stats);
	ck_assert_uint_eq(stats.refused, 1);
	/* Other users, files of an unknown user and other kinds of process are not affected. */
	reader_of_user(reader, other_user);
	ck_assert_int_eq(ask(reader, READER_NAMES, 2), 0);
	reader_of_user(reader, 0);
	ck_assert_int_eq(ask(reader, READER_NAMES, 2), 0);
	ck_assert(!lingering_over("other", slow_user));
	ck_assert_uint_eq(reader_user(1000, 1000), slow_user);
	ck_assert_uint_eq(reader_user(0, 1000), other_user);
	ck_assert_uint_eq(reader_user(1000, 0), 0);
	for (size_t i = 0; i < MAX_LINGERING_OF_USER; i++)
		ck_assert_int_eq(kill(pids[i], SIGKILL), 0);
	while (lingering_reap())
		nap(10);
	reader_of_user(reader, slow_user);
	ck_assert_int_eq(ask(reader, READER_NAMES, 2), 0);
}
END_TEST

/* The places of processes of all names, running or lingering. */
START_TEST(places)
{
	pid_t pids[MAX_READER_PROCESSES] = {0};
	char name[16];

	for (int i = 0; i < MAX_READER_PROCESSES; i++) {
		snprintf(name, sizeof(name), "test-%d", i / MAX_LINGERING_OF_NAME);
		ck_assert_int_eq(lingering_begin(name), 0);
		if (i % 2)
			lingering_end(name, pids[i] = sleeper(), 0);
	}
	ck_assert_uint_eq(lingering_reap(), MAX_READER_PROCESSES / 2);
	ck_assert_int_eq(lingering_begin("other"), -EBUSY);
	lingering_end("test-0", 0, 0);
	ck_assert_int_eq(lingering_begin("other"), 0);
	ck_assert_int_eq(lingering_begin("other"), -EBUSY);
	for (int i = 0; i < MAX_READER_PROCESSES; i++) {
		if (i % 2)
			ck_assert_int_eq(kill(pids[i], SIGKILL), 0);
		else
			lingering_end("test", 0, 0);
	}
	while (lingering_reap())
		nap(10);
}
END_TEST

/* The daemon and the reader process are both stopped past the deadline, and the process continues
 * last. */
START_TEST(stopped_daemon)
{
	_cleanup_(reader_freep) struct reader *reader = reader_new(&program);
	pid_t self = getpid();
	int status;

	ck_assert_int_eq(ask(reader, READER_NAMES, 2), 0);
	reader_deadline(reader, 2 * NSEC_PER_SEC);
	pid_t process = reader_pid(reader);
	ck_assert_int_eq(kill(process, SIGSTOP), 0);
	pid_t helper = fork();
	if (helper == 0) {
		nap(200);
		kill(self, SIGSTOP);
		nap(3000);
		kill(self, SIGCONT);
		nap(200);
		kill(process, SIGCONT);
		_exit(0);
	}
	ck_assert_int_eq(ask(reader, READER_NAMES, 2), 0);
	ck_assert_int_eq(reader_pid(reader), process);
	ck_assert_int_eq(waitpid(helper, &status, 0), helper);
}
END_TEST

/* Neither end continues after a message that it does not understand. */
START_TEST(no_question)
{
	static const struct {
		uint32_t job;
		size_t words;
	} cases[] = {
		{READER_JOB_COUNT, 2}, {READER_NAMES, 0}, {READER_NAMES, 1}, {READER_NAMES, 3}};
	_cleanup_(reader_freep) struct reader *reader = reader_new(&program);
	struct reader_stats stats = {0};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_int_eq(ask(reader, cases[i].job, cases[i].words), -EIO);
	reader_add_stats(reader, &stats);
	ck_assert_uint_eq(stats.crashes, 4);
	ck_assert_uint_eq(stats.files_failed, 3);
	/* Files were given up; questions without a file were not. */
	ck_assert_int_eq(ask(reader, READER_NAMES, 1), -EIO);
	ck_assert_int_eq(ask(reader, READER_NAMES, 0), -EIO);
	stats = (struct reader_stats){0};
	reader_add_stats(reader, &stats);
	ck_assert_uint_eq(stats.crashes, 5);
	ck_assert_int_eq(ask(reader, READER_NAMES, 2), 0);
}
END_TEST

/* Asks about a file; the process answers with this error. */
static int ask_for_error(struct reader *reader, int error)
{
	char question[32];
	int len = snprintf(question, sizeof(question), "%s%d", ERRING_NAME, -error);
	const struct reader_query query = {
		.question = {.job = READER_DEMANGLE,
	                     .fds = {-1, -1, -1},
	                     .pieces = {{question, (size_t)len + 1}}},
		.file = (uint64_t)-error,
		.check = accept_all,
	};
	struct reader_reply reply;

	return reader_ask(reader, &query, &reply);
}

/* An error that only the daemon's end may report is a failure over the file when the process sends
 * it. */
START_TEST(errors_of_ours)
{
	static const int ours[] = {-ECHILD, -ECANCELED, -ETIMEDOUT, -EIO,
	                           -EPIPE,  -EBUSY,     -EAGAIN,    -EINTR};
	static const int theirs[] = {-ENOENT, -ENOEXEC, -EBADMSG, -E2BIG, -ENOTSUP};
	size_t count = sizeof(ours) / sizeof(ours[0]);
	_cleanup_(reader_freep) struct reader *reader = reader_new(&program);
	struct reader_stats stats = {0};

	for (size_t i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++)
		ck_assert_int_eq(ask_for_error(reader, theirs[i]), theirs[i]);
	reader_add_stats(reader, &stats);
	ck_assert_uint_eq(stats.crashes, 0);
	for (size_t i = 0; i < count; i++)
		ck_assert_int_eq(ask_for_error(reader, ours[i]), -EIO);
	stats = (struct reader_stats){0};
	reader_add_stats(reader, &stats);
	/* The first file is asked about twice, because other files had been asked about before
	 * it. */
	ck_assert_uint_eq(stats.crashes, count + 1);
	ck_assert_uint_eq(stats.files_failed, count);
}
END_TEST

/* A question may set an earlier deadline than usual, not a later one. */
START_TEST(earlier_deadline)
{
	_cleanup_(reader_freep) struct reader *reader = reader_new(&program);
	struct reader_query query = {
		.question = {.job = READER_DEMANGLE,
	                     .fds = {-1, -1, -1},
	                     .pieces = {{ENDLESS_NAME, sizeof(ENDLESS_NAME)}}},
		.no_file = true,
		.deadline_ns = NSEC_PER_SEC,
		.check = accept_all,
	};

	for (int i = 0; i < 2; i++) {
		struct reader_reply reply;
		uint64_t begun;

		ck_assert_int_eq(ask(reader, READER_NAMES, 2), 0);
		begun = clock_mono_ns();
		ck_assert_int_eq(reader_ask(reader, &query, &reply), -EIO);
		ck_assert_uint_ge(clock_mono_ns() - begun, NSEC_PER_SEC);
		ck_assert_uint_lt(clock_mono_ns() - begun, 20 * NSEC_PER_SEC);
		query.deadline_ns = 60 * NSEC_PER_SEC;
		reader_deadline(reader, NSEC_PER_SEC);
	}
}
END_TEST

/* An answer that passes the check is refused unless it has the exact size of the memory for it. */
START_TEST(fixed_size)
{
	_cleanup_(reader_freep) struct reader *reader = reader_new(&program);
	struct links answers[2];
	struct elf_image image;

	elf_image_init(&image, 1);
	_cleanup_close_ int fd = elf_image_fd(&image, sizeof(image));
	const struct reader_query query = {
		.question = {.job = READER_LINKS, .fds = {fd, -1, -1}},
		.file = 1,
		.check = accept_all,
	};
	memset(answers, 0x55, sizeof(answers));
	const struct links before = answers[0];
	for (size_t size = sizeof(before) - 1; size <= sizeof(before) + 1; size += 2) {
		ck_assert_int_eq(reader_ask_fixed(reader, &query, answers, size), -EBADMSG);
		ck_assert_mem_eq(answers, &before, sizeof(before));
	}
	ck_assert_int_eq(reader_ask_fixed(reader, &query, answers, sizeof(before)), 0);
	ck_assert_int_eq(links_check((const uint8_t *)answers, sizeof(before)), 0);
	ck_assert_mem_eq(&answers[1], &before, sizeof(before));
}
END_TEST

START_TEST(not_for_people)
{
	static char self[] = "profd", command[] = "reader", word[] = "much", one[] = "1",
		    more[] = "20";
	char *lines[][7] = {
		{self, command, NULL},
		{self, command, word, one, NULL},
		{self, command, word, one, one, one, NULL},
		{self, command, word, word, one, NULL},
		{self, command, word, one, more, NULL},
		/* Without a socket. */
		{self, command, word, one, one, NULL},
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		int count = 0;

		while (lines[i][count])
			count++;
		ck_assert_int_eq(reader_main(count, lines[i], jobs_answer), EX_USAGE);
	}
}
END_TEST

Suite *reader_suite(void)
{
	Suite *suite = suite_create("reader");
	TCase *all = tcase_create("all");

	tcase_add_test(all, privileges);
	tcase_add_test(all, opens_nothing_by_name);
	tcase_add_test(all, dies_with_the_daemon);
	tcase_add_test(all, starts_are_spaced);
	tcase_add_test(all, lingering);
	tcase_add_test(all, lingering_over_files_of_a_user);
	tcase_add_test(all, places);
	tcase_add_test(all, stopped_daemon);
	tcase_add_test(all, no_question);
	tcase_add_test(all, errors_of_ours);
	tcase_add_test(all, earlier_deadline);
	tcase_add_test(all, fixed_size);
	tcase_add_test(all, not_for_people);
	tcase_set_timeout(all, 60);
	suite_add_tcase(suite, all);
	return suite;
}
