/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names by a reader process, which is this program: what it answers, and what happens when it dies.
 */
#include "names/client.h"

#include "base/buf.h"
#include "base/clock.h"
#include "names/wire.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/names_fixture.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#define SELF "/proc/self/exe"

static const uint64_t max_bytes = 256 << 20;

static struct names_stats stats_of(const struct names_client *client)
{
	struct names_stats stats;

	names_client_get_stats(client, &stats);
	return stats;
}

/* Asks about known_outer(). */
static int ask_self(struct names_client *client, bool lines, struct told_frames *told)
{
	_cleanup_close_ int fd = open_own_file();
	uint64_t address = known_outer();
	struct names_query query = {
		.file = 1, .fds = {fd, -1, -1}, .addresses = &address, .count = 1, .lines = lines};

	return names_client_find(client, &query, tell_frame, told);
}

static void expect_self(struct names_client *client, bool lines, bool told_lines)
{
	struct told_frames told = {0};

	ck_assert_int_eq(ask_self(client, lines, &told), 0);
	ck_assert_uint_eq(told.count, told_lines ? 2 : 1);
	ck_assert_str_eq(told.items[told.count - 1].function, "known_outer");
	ck_assert_uint_eq(told.items[told.count - 1].function_address,
	                  own_address((uintptr_t)known_outer));
	if (told_lines) {
		ck_assert_str_eq(told.items[0].function, "known_inlined");
		ck_assert_ptr_nonnull(strstr(told.items[0].file, "tests/unit/names_fixture.c"));
		ck_assert_uint_gt(told.items[0].line, 0);
	} else {
		ck_assert_ptr_null(told.items[0].file);
	}
	told_frames_release(&told);
}

/* Asks about the image's function "plain". */
static int ask_image(struct names_client *client, uint64_t number, struct told_frames *told)
{
	static const uint64_t address = 0x401010;
	struct elf_image image;

	elf_image_init(&image, (uint8_t)number);
	_cleanup_close_ int fd = elf_image_fd(&image, sizeof(image));
	struct names_query query = {
		.file = number, .fds = {fd, -1, -1}, .addresses = &address, .count = 1};
	return names_client_find(client, &query, tell_frame, told);
}

static void expect_image(struct names_client *client, uint64_t number)
{
	struct told_frames told = {0};

	ck_assert_int_eq(ask_image(client, number, &told), 0);
	ck_assert_uint_eq(told.count, 1);
	ck_assert_str_eq(told.items[0].function, "plain");
	ck_assert_uint_eq(told.items[0].function_address, 0x401000);
	told_frames_release(&told);
}

START_TEST(own_functions)
{
	_cleanup_(names_client_freep) struct names_client *client =
		names_client_new(SELF, max_bytes);

	ck_assert_int_eq(names_client_pid(client), 0);
	expect_self(client, true, true);
	expect_self(client, false, false);
	expect_self(client, true, true);
	struct names_stats stats = stats_of(client);
	ck_assert_uint_eq(stats.starts, 1);
	ck_assert_uint_eq(stats.crashes, 0);
	ck_assert_uint_eq(stats.requests, 3);
	ck_assert_uint_eq(stats.addresses, 3);
	ck_assert_uint_gt(stats.busy_seconds, 0);
}
END_TEST

START_TEST(not_a_file_of_names)
{
	_cleanup_(names_client_freep) struct names_client *client =
		names_client_new(SELF, max_bytes);
	_cleanup_close_ int script = elf_image_fd("#!/bin/sh\n", 10);
	_cleanup_close_ int empty = elf_image_fd("", 0);
	const uint64_t address = 0;
	struct names_query query = {.file = 1, .addresses = &address, .count = 1, .lines = true};
	const struct {
		int fds[FILE_COUNT], error;
	} cases[] = {
		{{script, -1, -1}, -ENOEXEC},
		{{empty, script, empty}, -ENOEXEC},
		{{-1, script, -1}, -EINVAL},
		{{12345, -1, -1}, -EBADF},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		query.file++;
		memcpy(query.fds, cases[i].fds, sizeof(query.fds));
		ck_assert_int_eq(names_client_find(client, &query, tell_frame, NULL),
		                 cases[i].error);
	}
	query.count = 0;
	ck_assert_int_eq(names_client_find(client, &query, tell_frame, NULL), 0);
	expect_image(client, 100);
	ck_assert_uint_eq(stats_of(client).crashes, 0);
}
END_TEST

static int stop_telling(size_t index, const struct source_frame *frame, void *ctx)
{
	(void)index, (void)frame;
	++*(int *)ctx;
	return -ECANCELED;
}

START_TEST(told_until_enough)
{
	_cleanup_(names_client_freep) struct names_client *client =
		names_client_new(SELF, max_bytes);
	_cleanup_close_ int fd = open_own_file();
	uint64_t addresses[] = {known_outer(), known_outer()};
	struct names_query query = {
		.file = 1, .fds = {fd, -1, -1}, .addresses = addresses, .count = 2, .lines = true};
	int told = 0;

	ck_assert_int_eq(names_client_find(client, &query, stop_telling, &told), -ECANCELED);
	ck_assert_int_eq(told, 1);
	expect_self(client, true, true);
	ck_assert_uint_eq(stats_of(client).starts, 1);
}
END_TEST

static int count_frame(size_t index, const struct source_frame *frame, void *ctx)
{
	size_t *count = ctx;

	ck_assert_uint_eq(index, (*count)++);
	ck_assert_str_eq(frame->function, "plain");
	return 0;
}

START_TEST(more_than_one_request_can_hold)
{
	enum { COUNT = WIRE_MAX_ADDRESSES + 10 };
	_cleanup_(names_client_freep) struct names_client *client =
		names_client_new(SELF, max_bytes);
	_cleanup_free_ uint64_t *addresses = malloc(COUNT * sizeof(*addresses));
	struct elf_image image;
	size_t count = 0;

	elf_image_init(&image, 1);
	_cleanup_close_ int fd = elf_image_fd(&image, sizeof(image));
	for (size_t i = 0; i < COUNT; i++)
		addresses[i] = 0x401000 + i * 0x40 / COUNT;
	struct names_query query = {
		.file = 1, .fds = {fd, -1, -1}, .addresses = addresses, .count = COUNT};
	ck_assert_int_eq(names_client_find(client, &query, count_frame, &count), 0);
	ck_assert_uint_eq(count, COUNT);
	ck_assert_uint_eq(stats_of(client).addresses, COUNT);
}
END_TEST

START_TEST(hundred_files)
{
	int before = count_fds(getpid());
	struct names_client *client = names_client_new(SELF, max_bytes);

	for (int round = 0; round < 3; round++) {
		for (uint64_t i = 1; i <= 100; i++)
			expect_image(client, i);
	}
	struct names_stats stats = stats_of(client);
	ck_assert_uint_eq(stats.starts, 1);
	ck_assert_uint_eq(stats.requests, 300);
	/* 64 files, the socket and the three standard ones. */
	if (geteuid() == 0)
		ck_assert_int_le(count_fds(names_client_pid(client)), 68);
	names_client_free(client);
	ck_assert_int_eq(count_fds(getpid()), before);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}
END_TEST

START_TEST(killed_between_requests)
{
	_cleanup_(names_client_freep) struct names_client *client =
		names_client_new(SELF, max_bytes);

	for (int i = 0; i < 4; i++) {
		expect_self(client, true, true);
		ck_assert_int_eq(kill(names_client_pid(client), SIGKILL), 0);
	}
	expect_self(client, true, true);
	struct names_stats stats = stats_of(client);
	ck_assert_uint_eq(stats.starts, 5);
	ck_assert_uint_eq(stats.crashes, 4);
	ck_assert_uint_eq(stats.files_failed, 0);
}
END_TEST

START_TEST(killed_during_a_request)
{
	_cleanup_(names_client_freep) struct names_client *client =
		names_client_new(SELF, max_bytes);

	expect_self(client, true, true);
	pid_t stopped = names_client_pid(client);
	ck_assert_int_eq(kill(stopped, SIGSTOP), 0);
	pid_t killer = fork();
	if (killer == 0) {
		usleep(50 * 1000);
		_exit(kill(stopped, SIGKILL));
	}
	expect_self(client, true, true);
	ck_assert_int_ne(names_client_pid(client), stopped);
	ck_assert_int_eq(waitpid(killer, NULL, 0), killer);
	ck_assert_uint_eq(stats_of(client).crashes, 1);
	ck_assert_uint_eq(stats_of(client).files_failed, 0);
}
END_TEST

/* Lines of a file that took too long are not asked for again; those of others are. */
START_TEST(deadline)
{
	_cleanup_(names_client_freep) struct names_client *client =
		names_client_new(SELF, max_bytes);

	expect_image(client, 7);
	names_client_deadline(client, 3 * NSEC_PER_SEC);
	ck_assert_int_eq(kill(names_client_pid(client), SIGSTOP), 0);
	uint64_t begun = clock_mono_ns();
	expect_self(client, true, false);
	ck_assert_uint_ge(clock_mono_ns() - begun, 3 * NSEC_PER_SEC);
	struct names_stats stats = stats_of(client);
	ck_assert_uint_eq(stats.starts, 2);
	ck_assert_uint_eq(stats.crashes, 1);
	ck_assert_uint_eq(stats.files_failed, 1);
	expect_self(client, true, false);
	expect_image(client, 8);
	ck_assert_uint_eq(stats_of(client).starts, 2);
}
END_TEST

static void *cancel_soon(void *client)
{
	const struct timespec moment = {.tv_nsec = 200 * 1000 * 1000};

	nanosleep(&moment, NULL);
	names_client_cancel(client);
	return NULL;
}

/* Who ends waits for no answer, and no new process is started. */
START_TEST(cancelled)
{
	_cleanup_(names_client_freep) struct names_client *client =
		names_client_new(SELF, max_bytes);
	static const uint64_t address = 0x401010;
	struct elf_image image;
	pthread_t thread;

	elf_image_init(&image, 1);
	_cleanup_close_ int fd = elf_image_fd(&image, sizeof(image));
	struct names_query query = {
		.file = 2, .fds = {fd, -1, -1}, .addresses = &address, .count = 1, .lines = true};
	expect_image(client, 7);
	ck_assert_int_eq(kill(names_client_pid(client), SIGSTOP), 0);
	uint64_t begun = clock_mono_ns();
	ck_assert_int_eq(pthread_create(&thread, NULL, cancel_soon, client), 0);
	ck_assert_int_eq(names_client_find(client, &query, NULL, NULL), -ECANCELED);
	ck_assert_uint_lt(clock_mono_ns() - begun, NSEC_PER_SEC);
	ck_assert_int_eq(names_client_find(client, &query, NULL, NULL), -ECANCELED);
	ck_assert_int_eq(names_client_pid(client), 0);
	ck_assert_uint_eq(stats_of(client).starts, 1);
	ck_assert_uint_eq(stats_of(client).crashes, 0);
	pthread_join(thread, NULL);
}
END_TEST

START_TEST(rest)
{
	_cleanup_(names_client_freep) struct names_client *client =
		names_client_new(SELF, max_bytes);

	names_client_rest(client, 0);
	expect_image(client, 1);
	pid_t pid = names_client_pid(client);
	names_client_rest(client, 3600 * NSEC_PER_SEC);
	ck_assert_int_eq(names_client_pid(client), pid);
	names_client_rest(client, 0);
	ck_assert_int_eq(names_client_pid(client), 0);
	ck_assert_int_eq(kill(pid, 0), -1);
	expect_image(client, 1);
	ck_assert_uint_eq(stats_of(client).starts, 2);
	ck_assert_uint_eq(stats_of(client).crashes, 0);
}
END_TEST

/* An image with symbols behind it that take more than 64 MiB. */
static int large_fd(void)
{
	enum { COUNT = 1000 * 1000 };
	Elf64_Sym *symbols = calloc(COUNT, sizeof(*symbols));
	struct elf_image image;

	elf_image_init(&image, 1);
	image.sections[1].sh_offset = sizeof(image);
	image.sections[1].sh_size = COUNT * sizeof(*symbols);
	for (uint64_t i = 0; i < COUNT; i++) {
		symbols[i] = image.symbols[1];
		symbols[i].st_value += i;
	}
	int fd = elf_image_fd(&image, sizeof(image));
	ck_assert_int_eq(write(fd, symbols, COUNT * sizeof(*symbols)), COUNT * sizeof(*symbols));
	free(symbols);
	return fd;
}

START_TEST(memory)
{
	_cleanup_(names_client_freep) struct names_client *client =
		names_client_new(SELF, 40 << 20);
	_cleanup_(names_client_freep) struct names_client *rich = names_client_new(SELF, 1 << 30);
	_cleanup_close_ int fd = large_fd();
	const uint64_t address = 0x401010;
	struct names_query query = {
		.file = 2, .fds = {fd, -1, -1}, .addresses = &address, .count = 1};
	struct told_frames told = {0};

	ck_assert_int_eq(names_client_find(rich, &query, tell_frame, &told), 0);
	ck_assert_uint_eq(told.count, 1);
	expect_image(client, 1);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(names_client_find(client, &query, tell_frame, &told), -EIO);
	ck_assert_uint_eq(told.count, 1);
	struct names_stats stats = stats_of(client);
	/* Once with what it held of the image, once alone. */
	ck_assert_uint_eq(stats.crashes, 2);
	ck_assert_uint_eq(stats.files_failed, 1);
	expect_image(client, 1);
	told_frames_release(&told);
}
END_TEST

Suite *names_suite(void)
{
	Suite *suite = suite_create("names");
	TCase *answers = tcase_create("answers"), *deaths = tcase_create("deaths");

	tcase_add_test(answers, own_functions);
	tcase_add_test(answers, not_a_file_of_names);
	tcase_add_test(answers, told_until_enough);
	tcase_add_test(answers, more_than_one_request_can_hold);
	tcase_add_test(answers, hundred_files);
	tcase_add_test(deaths, killed_between_requests);
	tcase_add_test(deaths, killed_during_a_request);
	tcase_add_test(deaths, deadline);
	tcase_add_test(deaths, cancelled);
	tcase_add_test(deaths, rest);
	tcase_add_test(deaths, memory);
	tcase_set_timeout(answers, 60);
	tcase_set_timeout(deaths, 60);
	suite_add_tcase(suite, answers);
	suite_add_tcase(suite, deaths);
	return suite;
}
