/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a reader process for names, which is this program, answers about single files.
 */
#include "names/client.h"

#include "names/wire.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/names_asked.h"
#include "tests/unit/names_fixture.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <string.h>

START_TEST(own_functions)
{
	_cleanup_(names_client_freep) struct names_client *client = client_of_self();

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
	_cleanup_(names_client_freep) struct names_client *client = client_of_self();
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
	_cleanup_(names_client_freep) struct names_client *client = client_of_self();
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
	_cleanup_(names_client_freep) struct names_client *client = client_of_self();
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

Suite *names_suite(void)
{
	Suite *suite = suite_create("names");
	TCase *answers = tcase_create("answers");

	tcase_add_test(answers, own_functions);
	tcase_add_test(answers, not_a_file_of_names);
	tcase_add_test(answers, told_until_enough);
	tcase_add_test(answers, more_than_one_request_can_hold);
	tcase_set_timeout(answers, 60);
	suite_add_tcase(suite, answers);
	return suite;
}
