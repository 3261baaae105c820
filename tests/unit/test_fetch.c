/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct fetch: never waits, remembers what servers do not have, tries again what broke off, ends
 * at once.
 */
#include "symbolize/fetch.h"
#include "base/clock.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

/* libdebuginfod writes its settings into a new cache with dprintf(), which in glibc 2.36 loses a
 * buffer. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:_IO_file_doallocate";
}

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

static int settled(struct fetch *fetch, const char *build_id)
{
	const struct timespec moment = {.tv_nsec = 5 * 1000 * 1000};
	int result = -EINPROGRESS;

	for (int i = 0; i < 2000 && result == -EINPROGRESS; i++) {
		result = fetch_debug(fetch, build_id);
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
	ck_assert_int_eq(fetch_new(url, &fetch), 0);
	ck_assert_int_eq(fetch_debug(fetch, "00112233445566778899"), -EINPROGRESS);
	ck_assert_int_eq(settled(fetch, "00112233445566778899"), -ENOENT);
	ck_assert_int_eq(fetch_debug(fetch, "00112233445566778899"), -ENOENT);
	fetch_get_stats(fetch, &stats);
	ck_assert_uint_eq(stats.missing, 1);
	ck_assert_uint_eq(stats.waiting, 0);
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
	ck_assert_int_eq(fetch_new(url, &fetch), 0);
	for (unsigned int i = 0; i < 300; i++) {
		snprintf(build_id, sizeof(build_id), "%020x", i);
		result = fetch_debug(fetch, build_id);
		ck_assert(result == -EINPROGRESS || result == -EAGAIN);
	}
	ck_assert_int_eq(result, -EAGAIN);
	fetch_get_stats(fetch, &stats);
	ck_assert_uint_eq(stats.waiting, 256);
	ck_assert_uint_eq(stats.refused, 300 - 256);
	fetch_free(fetch);
	ck_assert_uint_lt(clock_mono_ns() - start_ns, 5 * NSEC_PER_SEC);
}
END_TEST

static const char body[] = "what was asked for";

/* Answers the first request by half of it and a reset, the second whole. */
static void *serve_twice(void *arg)
{
	const struct linger reset = {.l_onoff = 1};
	int listener = *(const int *)arg;
	char request[4096];

	for (int i = 0; i < 2; i++) {
		int fd = accept(listener, NULL, NULL);

		recv(fd, request, sizeof(request), 0);
		dprintf(fd, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n",
		        strlen(body));
		dprintf(fd, "%.*s", i ? (int)strlen(body) : (int)strlen(body) / 2, body);
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
	struct fetch_stats stats;
	pthread_t thread;
	char url[64], got[64] = "";
	_cleanup_close_ int listener = listen_anywhere(url);

	ck_assert_int_eq(listen(listener, 8), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, serve_twice, &listener), 0);
	ck_assert_int_eq(fetch_new(url, &fetch), 0);
	_cleanup_close_ int fd = settled(fetch, "00112233445566778899");
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pread(fd, got, sizeof(got) - 1, 0), (ssize_t)strlen(body));
	ck_assert_str_eq(got, body);
	fetch_get_stats(fetch, &stats);
	ck_assert_uint_eq(stats.fetched, 1);
	pthread_join(thread, NULL);
}
END_TEST

Suite *fetch_suite(void)
{
	Suite *suite = suite_create("fetch");
	TCase *tcase = tcase_create("fetch");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, refused);
	tcase_add_test(tcase, silent);
	tcase_add_test(tcase, broken_off);
	tcase_set_timeout(tcase, 30);
	suite_add_tcase(suite, tcase);
	return suite;
}
