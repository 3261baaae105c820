/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "tests/unit/fetch_fixture.h"

#include "reader/reader.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

static char cache[64];

void fetch_set_up(void)
{
	snprintf(cache, sizeof(cache), "/tmp/profd-test-fetch-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(cache));
	setenv("DEBUGINFOD_CACHE_PATH", cache, 1);
}

void fetch_tear_down(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", cache);
	ck_assert_int_eq(system(command), 0);
}

const char *fetch_cache_path(void)
{
	return cache;
}

int listen_anywhere(char url[64])
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

struct fetch *fetch_from(const char *url, uint64_t max_bytes)
{
	const struct fetch_config config = {READER_SELF, url, max_bytes};
	struct fetch *fetch = NULL;

	ck_assert_int_eq(fetch_new(&config, &fetch), 0);
	return fetch;
}

int settled(struct fetch *fetch, const char *build_id, uint32_t owner)
{
	const struct timespec moment = {.tv_nsec = 5 * 1000 * 1000};
	int result = -EINPROGRESS;

	for (int i = 0; i < 4000 && result == -EINPROGRESS; i++) {
		result = fetch_debug(fetch, build_id, owner);
		nanosleep(&moment, NULL);
	}
	return result;
}

static void *serve(void *arg)
{
	struct file_server *server = arg;
	char request[4096];
	int fd;

	while ((fd = accept(server->listener, NULL, NULL)) >= 0) {
		ssize_t len = recv(fd, request, sizeof(request) - 1, 0);

		request[len > 0 ? len : 0] = '\0';
		const char *at = strstr(request, "/buildid/");
		const char *build_id = at ? at + strlen("/buildid/") : "";
		if (strlen(server->digits) + 3 < sizeof(server->digits))
			strncat(server->digits, build_id, 2);
		server->answer(server, fd, build_id);
		close(fd);
	}
	return NULL;
}

void file_server_start(struct file_server *server)
{
	server->listener = listen_anywhere(server->url);
	ck_assert_int_eq(listen(server->listener, 8), 0);
	ck_assert_int_eq(pthread_create(&server->thread, NULL, serve, server), 0);
}

void file_server_stop(struct file_server *server)
{
	shutdown(server->listener, SHUT_RDWR);
	pthread_join(server->thread, NULL);
	close(server->listener);
}

void answer_nothing(struct file_server *server, int fd, const char *build_id)
{
	static const char nothing[] = "HTTP/1.1 404 Not Found\r\nConnection: close\r\n"
				      "Content-Length: 0\r\n\r\n";

	(void)server;
	(void)build_id;
	send(fd, nothing, strlen(nothing), MSG_NOSIGNAL);
}
