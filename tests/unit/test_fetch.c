/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct fetch: never blocks, remembers files that servers do not have, retries interrupted
 * transfers, accepts only the file that it requested, and ends at once.
 */
#include "base/clock.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/fetch_fixture.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { SEED = 1, CACHE_BYTES = 64 << 20 };

/* The build ID of the image with that seed. */
static const char build_id_of_seed[] = "0102030405060708090a0b0c0d0e0f1011121314";

START_TEST(refused)
{
	_cleanup_(fetch_freep) struct fetch *fetch = NULL;
	struct fetch_stats stats;
	char url[64];
	int fd = listen_anywhere(url);

	/* The socket is closed, so connections are refused. */
	close(fd);
	fetch = fetch_from(url, CACHE_BYTES);
	ck_assert_int_eq(fetch_debug(fetch, "00112233445566778899", ROOT), -EINPROGRESS);
	ck_assert_int_eq(settled(fetch, "00112233445566778899", ROOT), -ENOENT);
	ck_assert_int_eq(fetch_debug(fetch, "00112233445566778899", ALICE), -ENOENT);
	fetch_get_stats(fetch, &stats);
	ck_assert_uint_eq(stats.missing, 1);
	ck_assert_uint_eq(stats.waiting, 0);
}
END_TEST

START_TEST(no_build_id)
{
	_cleanup_(fetch_freep) struct fetch *fetch = fetch_from("http://127.0.0.1:1/", CACHE_BYTES);
	char endless[256];

	memset(endless, 'a', sizeof(endless) - 1);
	endless[sizeof(endless) - 1] = '\0';
	ck_assert_int_eq(fetch_debug(fetch, "", ROOT), -EINVAL);
	ck_assert_int_eq(fetch_debug(fetch, "../../etc/shadow", ROOT), -EINVAL);
	ck_assert_int_eq(fetch_debug(fetch, "00AA", ROOT), -EINVAL);
	ck_assert_int_eq(fetch_debug(fetch, endless, ROOT), -EINVAL);
}
END_TEST

START_TEST(silent)
{
	struct fetch *fetch = NULL;
	struct fetch_stats stats;
	char url[64], build_id[32];
	_cleanup_close_ int fd = listen_anywhere(url);
	uint64_t start_ns = clock_mono_ns();
	int result = 0;

	ck_assert_int_eq(listen(fd, 8), 0);
	fetch = fetch_from(url, CACHE_BYTES);
	for (unsigned int i = 0; i < 300; i++) {
		snprintf(build_id, sizeof(build_id), "%020x", i);
		result = fetch_debug(fetch, build_id, ROOT);
		ck_assert(result == -EINPROGRESS || result == -EAGAIN);
	}
	ck_assert_int_eq(result, -EAGAIN);
	/* There is room for another user. */
	ck_assert_int_eq(fetch_debug(fetch, "aa", ALICE), -EINPROGRESS);
	fetch_get_stats(fetch, &stats);
	ck_assert_uint_eq(stats.waiting, 256 + 1);
	ck_assert_uint_eq(stats.refused, 300 - 256);
	fetch_free(fetch);
	ck_assert_uint_lt(clock_mono_ns() - start_ns, 5 * NSEC_PER_SEC);
}
END_TEST

/* Answers the first request with half of the image and a reset, and the others with the whole
 * image. */
static void *serve_image(void *arg)
{
	const struct linger reset = {.l_onoff = 1};
	int listener = *(const int *)arg, fd;
	struct elf_image image;
	char request[4096];

	elf_image_init(&image, SEED);
	for (int i = 0; (fd = accept(listener, NULL, NULL)) >= 0; i++) {
		size_t len = i ? sizeof(image) : sizeof(image) / 2;

		recv(fd, request, sizeof(request), 0);
		dprintf(fd, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n",
		        sizeof(image));
		send(fd, &image, len, MSG_NOSIGNAL);
		if (i == 0) {
			/* A reset discards data that was not read yet, so leave time to read it. */
			nanosleep(&(struct timespec){.tv_nsec = 200 * 1000 * 1000}, NULL);
			setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		}
		close(fd);
	}
	return NULL;
}

START_TEST(broken_off)
{
	_cleanup_(fetch_freep) struct fetch *fetch = NULL;
	struct elf_image image, got = {0};
	struct fetch_stats stats;
	pthread_t thread;
	char url[64];
	_cleanup_close_ int listener = listen_anywhere(url);

	elf_image_init(&image, SEED);
	ck_assert_int_eq(listen(listener, 8), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, serve_image, &listener), 0);
	fetch = fetch_from(url, CACHE_BYTES);
	_cleanup_close_ int fd = settled(fetch, build_id_of_seed, ROOT);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pread(fd, &got, sizeof(got), 0), (ssize_t)sizeof(got));
	ck_assert_mem_eq(&got, &image, sizeof(got));
	/* The server sends the same image for every build ID, so this one does not match. */
	ck_assert_int_eq(settled(fetch, "00112233445566778899", ROOT), -ENOENT);
	fetch_get_stats(fetch, &stats);
	ck_assert_uint_eq(stats.fetched, 1);
	ck_assert_uint_eq(stats.missing, 1);
	ck_assert_uint_eq(stats.cache_files, 1);
	ck_assert_uint_eq(stats.cache_bytes, sizeof(image));
	ck_assert_uint_ge(stats.received_bytes, 2 * sizeof(image));
	/* The file is on disk, so no server is asked again. */
	fetch_free(fetch);
	fetch = fetch_from("http://127.0.0.1:1/", CACHE_BYTES);
	_cleanup_close_ int again = fetch_debug(fetch, build_id_of_seed, ALICE);
	ck_assert_int_ge(again, 0);
	shutdown(listener, SHUT_RDWR);
	pthread_join(thread, NULL);
}
END_TEST

Suite *fetch_suite(void)
{
	Suite *suite = suite_create("fetch");
	TCase *tcase = tcase_create("fetch");

	tcase_add_checked_fixture(tcase, fetch_set_up, fetch_tear_down);
	tcase_add_test(tcase, refused);
	tcase_add_test(tcase, no_build_id);
	tcase_add_test(tcase, silent);
	tcase_add_test(tcase, broken_off);
	tcase_set_timeout(tcase, 30);
	suite_add_tcase(suite, tcase);
	return suite;
}
