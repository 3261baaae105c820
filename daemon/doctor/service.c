/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Checks what the daemon needs as a server: open files, debuginfod, an address to listen on.
 */
#include "doctor/host.h"

#include "http/listen.h"
#include "fetch/fetch.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

/* What the daemon may keep open: executables, clients, and some for itself. */
enum { OPEN_FILES = MAX_OBJECTS + MAX_KEPT_CONNECTIONS + 1024 };

void check_open_files(const struct host *host, struct finding *finding)
{
	struct rlimit limit = {0};

	(void)host;
	getrlimit(RLIMIT_NOFILE, &limit);
	/* The daemon raises its limit to the hard limit. */
	if (limit.rlim_max >= OPEN_FILES)
		finding_good(finding, "up to %llu", (unsigned long long)limit.rlim_max);
	else
		finding_bad(finding, FINDING_limited,
		            "Raise the hard limit: LimitNOFILE=65536 in a service, or ulimit -Hn",
		            "up to %llu, too few for many executables and clients",
		            (unsigned long long)limit.rlim_max);
}

void check_debuginfod(const struct host *host, struct finding *finding)
{
	const char *servers = host->options->debuginfod;

	if (!servers)
		finding_good(finding, "no servers are set");
	else if (fetch_possible())
		finding_good(finding, "%s", servers);
	else
		finding_bad(finding, FINDING_limited, "Install libdebuginfod (elfutils)",
		            "libdebuginfod is missing: profd fetches no debug files");
}

/* Whether the server at this address says that it is profd. */
static bool is_profd(const struct listen_address *address)
{
	static const char question[] = "GET / HTTP/1.0\r\n\r\n";
	const struct timeval patience = {.tv_sec = 2};
	_cleanup_close_ int fd =
		socket(address->socket.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char answer[4096];
	ssize_t len;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) ||
	    connect(fd, &address->socket.any, address->socket_len) ||
	    send(fd, question, sizeof(question) - 1, MSG_NOSIGNAL) < 0)
		return false;
	len = recv(fd, answer, sizeof(answer), MSG_WAITALL);
	return len > 0 && memmem(answer, (size_t)len, "profd", strlen("profd"));
}

/* Listening would create a file, so this only looks. 0 if profd could listen there. */
static int try_unix(const struct listen_address *address)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	char folder[sizeof(address->socket.local.sun_path)];

	if (fd < 0)
		return -errno;
	if (!connect(fd, &address->socket.any, address->socket_len))
		return -EADDRINUSE;
	if (errno != ENOENT && errno != ECONNREFUSED)
		return -errno;
	strcpy(folder, address->socket.local.sun_path);
	return access(dirname(folder), W_OK | X_OK) ? -errno : 0;
}

static int try_address(const char *text, struct listen_address *ret_address)
{
	struct listeners listeners;
	char why[256];
	int err = listen_parse(text, ret_address);

	if (err)
		return err;
	if (ret_address->socket.any.sa_family == AF_UNIX)
		return try_unix(ret_address);
	err = listeners_open(&text, 1, &listeners, why);
	if (!err)
		listeners_release(&listeners);
	return err;
}

void check_address(const char *text, struct finding *finding)
{
	struct listen_address address;
	int err = try_address(text, &address);

	if (!err)
		finding_good(finding, "%s is free", text);
	else if (err == -EADDRINUSE && is_profd(&address))
		finding_bad(finding, FINDING_limited,
		            "Choose another address with --listen for a second profd",
		            "another profd already listens on %s", text);
	else
		finding_bad(finding, FINDING_missing, "Choose another address with --listen",
		            "%s: %s", text, strerror(-err));
}
