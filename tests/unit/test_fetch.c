/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct fetch: never waits, remembers what servers do not have, tries again what broke off, takes
 * no other file than it asked for, ends at once.
 */
#include "fetch/fetch.h"
#include "base/clock.h"
#include "reader/reader.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { ROOT = 0, ALICE = 1000, BOB = 1001, SEED = 1 };

/* Of the image with that seed. */
static const char build_id_of_seed[] = "0102030405060708090a0b0c0d0e0f1011121314";

static char cache[64];

static void set_up(void)
{
	snprintf(cache, sizeof(cache), "/tmp/profd-test-fetch-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(cache));
	setenv("DEBUGINFOD_CACHE_PATH", cache, 1);
}

static void tear_down(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", cache);
	ck_assert_int_eq(system(command), 0);
}

/* A socket on loopback and its port; nobody accepts there. */
static int listen_anywhere(char url[64])
{
	struct sockaddr_in address = {.sin_family = AF_INET,
	                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, len), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	snprintf(url, 64, "http://127.0.0.1:%u/", ntohs(address.sin_port));
	return fd;
}

static struct fetch *fetch_from(const char *url)
{
	const struct fetch_config config = {READER_SELF, url, 64 << 20};
	struct fetch *fetch = NULL;

	ck_assert_int_eq(fetch_new(&config, &fetch), 0);
	return fetch;
}

static int settled(struct fetch *fetch, const char *build_id)
{
	const struct timespec moment = {.tv_nsec = 5 * 1000 * 1000};
	int result = -EINPROGRESS;

	for (int i = 0; i < 4000 && result == -EINPROGRESS; i++) {
		result = fetch_debug(fetch, build_id, ROOT);
		nanosleep(&moment, NULL);
	}
	return result;
}

START_TEST(refused)
{
	_cleanup_(fetch_freep) struct fetch *fetch = NULL;
	struct fetch_stats stats;
	char url[64];
	int fd = listen_anywhere(url);

	/* Closed: connections are refused. */
	close(fd);
	fetch = fetch_from(url);
	ck_assert_int_eq(fetch_debug(fetch, "00112233445566778899", ROOT), -EINPROGRESS);
	ck_assert_int_eq(settled(fetch, "00112233445566778899"), -ENOENT);
	ck_assert_int_eq(fetch_debug(fetch, "00112233445566778899", ALICE), -ENOENT);
	fetch_get_stats(fetch, &stats);
	ck_assert_uint_eq(stats.missing, 1);
	ck_assert_uint_eq(stats.waiting, 0);
}
END_TEST

START_TEST(no_build_id)
{
	_cleanup_(fetch_freep) struct fetch *fetch = fetch_from("http://127.0.0.1:1/");
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
	fetch = fetch_from(url);
	for (unsigned int i = 0; i < 300; i++) {
		snprintf(build_id, sizeof(build_id), "%020x", i);
		result = fetch_debug(fetch, build_id, ROOT);
		ck_assert(result == -EINPROGRESS || result == -EAGAIN);
	}
	ck_assert_int_eq(result, -EAGAIN);
	/* There is room for somebody else. */
	ck_assert_int_eq(fetch_debug(fetch, "aa", ALICE), -EINPROGRESS);
	fetch_get_stats(fetch, &stats);
	ck_assert_uint_eq(stats.waiting, 256 + 1);
	ck_assert_uint_eq(stats.refused, 300 - 256);
	fetch_free(fetch);
	ck_assert_uint_lt(clock_mono_ns() - start_ns, 5 * NSEC_PER_SEC);
}
END_TEST

START_TEST(enough_of_one)
{
	_cleanup_(fetch_freep) struct fetch *fetch = NULL;
	struct fetch_stats stats;
	char url[64], build_id[32];
	_cleanup_close_ int fd = listen_anywhere(url);

	ck_assert_int_eq(listen(fd, 8), 0);
	fetch = fetch_from(url);
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

/* What a server was asked for, of which it had nothing: the first two digits of each. */
struct asked {
	int listener;
	char digits[64];
};

static void *serve_nothing(void *arg)
{
	static const char nothing[] = "HTTP/1.1 404 Not Found\r\nConnection: close\r\n"
				      "Content-Length: 0\r\n\r\n";
	struct asked *asked = arg;
	char request[4096];
	int fd;

	while ((fd = accept(asked->listener, NULL, NULL)) >= 0) {
		ssize_t len = recv(fd, request, sizeof(request) - 1, 0);

		request[len > 0 ? len : 0] = '\0';
		const char *at = strstr(request, "/buildid/");
		if (at && strlen(asked->digits) + 3 < sizeof(asked->digits))
			strncat(asked->digits, at + strlen("/buildid/"), 2);
		send(fd, nothing, strlen(nothing), MSG_NOSIGNAL);
		close(fd);
	}
	return NULL;
}

START_TEST(turns)
{
	struct asked asked = {0};
	struct fetch *fetch;
	pthread_t thread;
	char url[64], build_id[8];
	_cleanup_close_ int listener = listen_anywhere(url);

	asked.listener = listener;
	ck_assert_int_eq(listen(listener, 8), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, serve_nothing, &asked), 0);
	fetch = fetch_from(url);
	for (unsigned int i = 0; i < 10; i++) {
		snprintf(build_id, sizeof(build_id), "a%xff", i);
		ck_assert_int_eq(fetch_debug(fetch, build_id, ALICE), -EINPROGRESS);
	}
	ck_assert_int_eq(fetch_debug(fetch, "b0ff", BOB), -EINPROGRESS);
	ck_assert_int_eq(fetch_debug(fetch, "c0ff", ROOT), -EINPROGRESS);
	ck_assert_int_eq(settled(fetch, "a9ff"), -ENOENT);
	fetch_free(fetch);
	shutdown(listener, SHUT_RDWR);
	pthread_join(thread, NULL);
	/* One of hers each was begun before they came, and while he was served. */
	ck_assert_msg(strstr(asked.digits, "b0") < asked.digits + 6, "%s", asked.digits);
	ck_assert_msg(strstr(asked.digits, "c0") < asked.digits + 10, "%s", asked.digits);
	ck_assert_uint_eq(strlen(asked.digits), 2 * 12);
}
END_TEST

/* Answers the first request by half of the image and a reset, the others whole. */
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
			/* A reset overtakes what has not been read yet. */
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
	fetch = fetch_from(url);
	_cleanup_close_ int fd = settled(fetch, build_id_of_seed);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pread(fd, &got, sizeof(got), 0), (ssize_t)sizeof(got));
	ck_assert_mem_eq(&got, &image, sizeof(got));
	/* The server says the same whatever it is asked for. */
	ck_assert_int_eq(settled(fetch, "00112233445566778899"), -ENOENT);
	fetch_get_stats(fetch, &stats);
	ck_assert_uint_eq(stats.fetched, 1);
	ck_assert_uint_eq(stats.missing, 1);
	ck_assert_uint_eq(stats.cache_files, 1);
	ck_assert_uint_eq(stats.cache_bytes, sizeof(image));
	ck_assert_uint_ge(stats.received_bytes, 2 * sizeof(image));
	/* It is on disk: nobody is asked again. */
	fetch_free(fetch);
	fetch = fetch_from("http://127.0.0.1:1/");
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

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, refused);
	tcase_add_test(tcase, no_build_id);
	tcase_add_test(tcase, silent);
	tcase_add_test(tcase, enough_of_one);
	tcase_add_test(tcase, turns);
	tcase_add_test(tcase, broken_off);
	tcase_set_timeout(tcase, 30);
	suite_add_tcase(suite, tcase);
	return suite;
}
