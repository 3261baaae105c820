/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The reader process for names, which is this program: one process for many files, and what happens
 * when it dies, hangs, rests or runs out of memory.
 */
#include "names/client.h"

#include "base/clock.h"
#include "reader/filter.h"
#include "reader/reader.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/mortal.h"
#include "tests/unit/names_asked.h"
#include "tests/unit/names_fixture.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>

START_TEST(hundred_files)
{
	int before = count_fds(getpid());
	struct names_client *client = client_of_self();

	for (int round = 0; round < 3; round++) {
		for (uint64_t i = 1; i <= 100; i++)
			expect_image(client, i);
	}
	struct names_stats stats = stats_of(client);
	ck_assert_uint_eq(stats.starts, 1);
	ck_assert_uint_eq(stats.requests, 300);
	/* 64 files, the socket and the three standard descriptors. */
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
	_cleanup_(names_client_freep) struct names_client *client = client_of_self();

	for (int i = 0; i < 4; i++) {
		expect_self(client, true, true);
		ck_assert_int_eq(kill(names_client_pid(client), SIGKILL), 0);
	}
	expect_self(client, true, true);
	struct names_stats stats = stats_of(client);
	ck_assert_uint_eq(stats.starts, 5);
	ck_assert_uint_eq(stats.disturbed, 4);
	ck_assert_uint_eq(stats.crashes, 0);
	ck_assert_uint_eq(stats.files_failed, 0);
}
END_TEST

START_TEST(killed_during_a_request)
{
	_cleanup_(names_client_freep) struct names_client *client = client_of_self();

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
	ck_assert_uint_eq(stats_of(client).disturbed, 1);
	ck_assert_uint_eq(stats_of(client).crashes, 0);
	ck_assert_uint_eq(stats_of(client).files_failed, 0);
}
END_TEST

/* The number of frames reported for known_outer(), in a file whose lines take forever to read. */
static size_t ask_endless(struct names_client *client)
{
	_cleanup_close_ int fd = open_own_file();
	uint64_t address = known_outer();
	struct names_query query = {.file = ENDLESS_FILE,
	                            .fds = {fd, -1, -1},
	                            .addresses = &address,
	                            .count = 1,
	                            .lines = true};
	struct told_frames told = {0};

	ck_assert_int_eq(names_client_find(client, &query, tell_frame, &told), 0);
	size_t count = told.count;
	told_frames_release(&told);
	return count;
}

/* After a deadline, the lines of that file are not asked for again; those of other files are. */
START_TEST(deadline)
{
	_cleanup_(names_client_freep) struct names_client *client = client_of_self();

	expect_image(client, 7);
	names_client_deadline(client, 3 * NSEC_PER_SEC);
	uint64_t begun = clock_mono_ns();
	ck_assert_uint_eq(ask_endless(client), 1);
	ck_assert_uint_ge(clock_mono_ns() - begun, 3 * NSEC_PER_SEC);
	struct names_stats stats = stats_of(client);
	ck_assert_uint_eq(stats.starts, 2);
	ck_assert_uint_eq(stats.crashes, 1);
	ck_assert_uint_eq(stats.files_failed, 1);
	ck_assert_uint_eq(ask_endless(client), 1);
	expect_image(client, 8);
	expect_self(client, true, true);
	ck_assert_uint_eq(stats_of(client).starts, 2);
}
END_TEST

/* The process was stopped from outside. The file is not to blame, and its lines are not lost. */
START_TEST(stopped)
{
	_cleanup_(names_client_freep) struct names_client *client = client_of_self();

	expect_image(client, 7);
	ck_assert_int_eq(kill(names_client_pid(client), SIGSTOP), 0);
	uint64_t begun = clock_mono_ns();
	expect_self(client, true, true);
	ck_assert_uint_lt(clock_mono_ns() - begun, 10 * NSEC_PER_SEC);
	ck_assert_uint_eq(stats_of(client).files_failed, 0);
}
END_TEST

static void *cancel_soon(void *client)
{
	const struct timespec moment = {.tv_nsec = 200 * 1000 * 1000};

	nanosleep(&moment, NULL);
	names_client_cancel(client);
	return NULL;
}

/* A cancelled client does not wait for the answer, and starts no new process. */
START_TEST(cancelled)
{
	_cleanup_(names_client_freep) struct names_client *client = client_of_self();
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
	_cleanup_(names_client_freep) struct names_client *client = client_of_self();

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

/* Resident anonymous memory of a process, in KiB. */
static unsigned anonymous_kib(pid_t pid)
{
	char path[64], line[128];
	unsigned kib = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	FILE *file = fopen(path, "re");
	ck_assert_ptr_nonnull(file);
	while (!kib && fgets(line, sizeof(line), file))
		sscanf(line, "RssAnon: %u kB", &kib);
	fclose(file);
	ck_assert_uint_gt(kib, 0);
	return kib;
}

/* The process frees what it has read of this program's DWARF when no requests come. */
START_TEST(forgets)
{
	_cleanup_(names_client_freep) struct names_client *client = client_of_self();

	expect_self(client, true, true);
	pid_t pid = names_client_pid(client);
	unsigned asked = anonymous_kib(pid);
	for (int i = 0; i < 100 && anonymous_kib(pid) >= asked; i++)
		usleep(100 * 1000);
	/* A sanitizer keeps freed memory to detect later uses. */
	if (filter_works())
		ck_assert_uint_lt(anonymous_kib(pid), asked);
	expect_self(client, true, true);
	ck_assert_int_eq(names_client_pid(client), pid);
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
		symbols[i].st_value -= i; /* all of them cover the address */
		symbols[i].st_size += i;
	}
	int fd = elf_image_fd(&image, sizeof(image));
	ck_assert_int_eq(write(fd, symbols, COUNT * sizeof(*symbols)), COUNT * sizeof(*symbols));
	free(symbols);
	return fd;
}

START_TEST(memory)
{
	_cleanup_(names_client_freep) struct names_client *client =
		names_client_new(READER_SELF, 40 << 20);
	_cleanup_(names_client_freep) struct names_client *rich =
		names_client_new(READER_SELF, 1 << 30);
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
	/* The first crash is with the memory of the image still held, the second without it. */
	ck_assert_uint_eq(stats.crashes, 2);
	ck_assert_uint_eq(stats.files_failed, 1);
	expect_image(client, 1);
	told_frames_release(&told);
}
END_TEST

Suite *names_process_suite(void)
{
	Suite *suite = suite_create("names_process");
	TCase *life = tcase_create("life"), *deaths = tcase_create("deaths");

	tcase_add_test(life, hundred_files);
	tcase_add_test(life, rest);
	tcase_add_test(life, forgets);
	tcase_add_test(deaths, killed_between_requests);
	tcase_add_test(deaths, killed_during_a_request);
	tcase_add_test(deaths, deadline);
	tcase_add_test(deaths, stopped);
	tcase_add_test(deaths, cancelled);
	tcase_add_test(deaths, memory);
	tcase_set_timeout(life, 60);
	tcase_set_timeout(deaths, 60);
	suite_add_tcase(suite, life);
	suite_add_tcase(suite, deaths);
	return suite;
}
