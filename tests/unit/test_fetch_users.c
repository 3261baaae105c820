/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct fetch: the number and size of one user's requests take nothing from others.
 */
#include "base/cleanup.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/fetch_fixture.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

enum { LARGE_CACHE = 64 << 20, HALF_IMAGE = sizeof(struct elf_image) / 2 };

/* The build IDs of the images with the seeds 1 and 2. */
static const char first_id[] = "0102030405060708090a0b0c0d0e0f1011121314";
static const char second_id[] = "02030405060708090a0b0c0d0e0f101112131415";

START_TEST(enough_of_one)
{
	_cleanup_(fetch_freep) struct fetch *fetch = NULL;
	struct fetch_stats stats;
	char url[64], build_id[32];
	_cleanup_close_ int fd = listen_anywhere(url);

	ck_assert_int_eq(listen(fd, 8), 0);
	fetch = fetch_from(url, LARGE_CACHE);
	for (unsigned int i = 0; i < 128 + 2; i++) {
		snprintf(build_id, sizeof(build_id), "%020x", i);
		ck_assert_int_eq(fetch_debug(fetch, build_id, ALICE),
		                 i < 128 ? -EINPROGRESS : -EDQUOT);
	}
	ck_assert_int_eq(fetch_debug(fetch, "bb", BOB), -EINPROGRESS);
	fetch_get_stats(fetch, &stats);
	ck_assert_uint_eq(stats.over_budget, 2);
}
END_TEST

static void ask_for_ten(struct fetch *fetch, uint32_t owner)
{
	char build_id[8];

	for (unsigned int i = 0; i < 10; i++) {
		snprintf(build_id, sizeof(build_id), "a%xff", i);
		ck_assert_int_eq(fetch_debug(fetch, build_id, owner), -EINPROGRESS);
	}
}

START_TEST(turns)
{
	struct file_server server = {.answer = answer_nothing};
	struct fetch *fetch;

	file_server_start(&server);
	fetch = fetch_from(server.url, LARGE_CACHE);
	ask_for_ten(fetch, ALICE);
	ck_assert_int_eq(fetch_debug(fetch, "b0ff", BOB), -EINPROGRESS);
	ck_assert_int_eq(fetch_debug(fetch, "c0ff", ROOT), -EINPROGRESS);
	ck_assert_int_eq(settled(fetch, "a9ff", ALICE), -ENOENT);
	fetch_free(fetch);
	file_server_stop(&server);
	/* One of Alice's requests was begun before those of the others came, and one more while Bob
	 * was served. */
	ck_assert_msg(strstr(server.digits, "b0") < server.digits + 6, "%s", server.digits);
	ck_assert_msg(strstr(server.digits, "c0") < server.digits + 10, "%s", server.digits);
	ck_assert_uint_eq(strlen(server.digits), 2 * 12);
}
END_TEST

/* A request of Alice's that others have made too does not wait for Alice's turn. */
START_TEST(turns_for_the_same)
{
	struct file_server server = {.answer = answer_nothing};
	struct fetch *fetch;
	struct fetch_stats stats;

	file_server_start(&server);
	fetch = fetch_from(server.url, LARGE_CACHE);
	ask_for_ten(fetch, ALICE);
	ck_assert_int_eq(fetch_debug(fetch, "a9ff", BOB), -EINPROGRESS);
	ck_assert_int_eq(fetch_debug(fetch, "a8ff", ROOT), -EINPROGRESS);
	ck_assert_int_eq(settled(fetch, "a7ff", ALICE), -ENOENT);
	/* A file that no server has is missing for all users, and the servers were asked once. */
	ck_assert_int_eq(fetch_debug(fetch, "a8ff", ALICE), -ENOENT);
	ck_assert_int_eq(fetch_debug(fetch, "a9ff", ALICE), -ENOENT);
	ck_assert_int_eq(fetch_debug(fetch, "a1ff", ROOT), -ENOENT);
	ck_assert_int_eq(settled(fetch, "ddff", ALICE), -ENOENT);
	fetch_get_stats(fetch, &stats);
	ck_assert_uint_eq(stats.missing, 11);
	ck_assert_uint_eq(stats.waiting, 0);
	fetch_free(fetch);
	file_server_stop(&server);
	ck_assert_msg(strstr(server.digits, "a9") < server.digits + 6, "%s", server.digits);
	ck_assert_msg(strstr(server.digits, "a8") < server.digits + 10, "%s", server.digits);
	ck_assert_uint_eq(strlen(server.digits), 2 * 11);
}
END_TEST

static void answer_image(struct file_server *server, int fd, const char *build_id)
{
	struct elf_image image;

	elf_image_init(&image, build_id[1] == '1' ? 1 : 2);
	dprintf(fd, "HTTP/1.1 200 OK\r\nConnection: close\r\n");
	if (!server->says_no_length)
		dprintf(fd, "Content-Length: %zu\r\n", sizeof(image));
	dprintf(fd, "\r\n");
	/* An announced length is checked before any data arrives. */
	nanosleep(&(struct timespec){.tv_nsec = 200 * 1000 * 1000}, NULL);
	send(fd, &image, sizeof(image), MSG_NOSIGNAL);
}

static void check_served(struct fetch *fetch, const char *build_id, uint32_t owner)
{
	_cleanup_close_ int fd = settled(fetch, build_id, owner);

	ck_assert_int_ge(fd, 0);
}

/* The budget is one image and a half. The server announces the length, or it does not. */
START_TEST(bytes_used_up)
{
	_cleanup_(fetch_freep) struct fetch *fetch = NULL;
	struct file_server server = {.answer = answer_image, .says_no_length = _i};
	struct fetch_stats stats;

	file_server_start(&server);
	fetch = fetch_from(server.url, (uint64_t)6 * HALF_IMAGE);
	check_served(fetch, first_id, ALICE);
	ck_assert_int_eq(settled(fetch, second_id, ALICE), -ENOENT);
	fetch_get_stats(fetch, &stats);
	ck_assert_uint_eq(stats.over_budget, !server.says_no_length);
	size_t asked = strlen(server.digits);
	ck_assert_int_eq(fetch_debug(fetch, second_id, ALICE), -ENOENT);
	ck_assert_int_eq(fetch_debug(fetch, second_id, _i ? BOB : ROOT), -EINPROGRESS);
	check_served(fetch, second_id, _i ? BOB : ROOT);
	check_served(fetch, second_id, ALICE);
	ck_assert_uint_eq(strlen(server.digits), asked + 2);
	fetch_get_stats(fetch, &stats);
	ck_assert_uint_eq(stats.fetched, 2);
	fetch_free(TAKE_PTR(fetch));
	file_server_stop(&server);
}
END_TEST

/* Alice has one file, which is in use, so Alice's half of the cache has no room for another
 * image. */
START_TEST(no_room_of_hers)
{
	_cleanup_(fetch_freep) struct fetch *fetch = NULL;
	struct file_server server = {.answer = answer_image};
	struct fetch_stats stats;
	char path[128];

	snprintf(path, sizeof(path), "%s/files", fetch_cache_path());
	ck_assert_int_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/files/ff.%u", fetch_cache_path(), ALICE);
	_cleanup_close_ int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_eq(ftruncate(file, (off_t)2 * HALF_IMAGE), 0);
	file_server_start(&server);
	fetch = fetch_from(server.url, (uint64_t)6 * HALF_IMAGE);
	_cleanup_close_ int held = fetch_debug(fetch, "ff", ALICE);
	ck_assert_int_ge(held, 0);
	ck_assert_int_eq(settled(fetch, first_id, ALICE), -ENOENT);
	fetch_get_stats(fetch, &stats);
	ck_assert_uint_eq(stats.not_kept, 1);
	check_served(fetch, first_id, BOB);
	check_served(fetch, first_id, ALICE);
	fetch_free(TAKE_PTR(fetch));
	file_server_stop(&server);
}
END_TEST

Suite *fetch_users_suite(void)
{
	Suite *suite = suite_create("fetch_users");
	TCase *tcase = tcase_create("all");

	tcase_add_checked_fixture(tcase, fetch_set_up, fetch_tear_down);
	tcase_add_test(tcase, enough_of_one);
	tcase_add_test(tcase, turns);
	tcase_add_test(tcase, turns_for_the_same);
	tcase_add_loop_test(tcase, bytes_used_up, 0, 2);
	tcase_add_test(tcase, no_room_of_hers);
	tcase_set_timeout(tcase, 30);
	suite_add_tcase(suite, tcase);
	return suite;
}
