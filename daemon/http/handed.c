/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Every property of a descriptor is read from the kernel, not assumed.
 */
#include "http/handed.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_FD = STDERR_FILENO + 1, MAX_COUNT_TEXT = 32 };

static bool is_for_us(const char *pid)
{
	uint64_t wanted;

	return pid && text_parse_u64(pid, 1, UINT32_MAX, &wanted) == 0 &&
	       wanted == (uint64_t)getpid();
}

static int option(int fd, int name)
{
	socklen_t len = sizeof(int);
	int value = 0;

	return getsockopt(fd, SOL_SOCKET, name, &value, &len) < 0 ? -errno : value;
}

static bool can_be_served(int fd)
{
	int family = option(fd, SO_DOMAIN);

	return (family == AF_UNIX || family == AF_INET || family == AF_INET6) &&
	       option(fd, SO_TYPE) == SOCK_STREAM && option(fd, SO_ACCEPTCONN) == 1;
}

static int set_flags(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
	    fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
		return -errno;
	return 0;
}

static int take(const char *count_text, struct listeners *ret_listeners, char why[256])
{
	struct listeners listeners = {0};
	uint64_t count;

	if (text_parse_u64(count_text, 0, MAX_LISTENERS, &count) < 0) {
		snprintf(why, 256,
		         "cannot listen on %.*s sockets handed over: at most %d are accepted",
		         MAX_COUNT_TEXT, count_text, MAX_LISTENERS);
		return -EINVAL;
	}
	for (size_t i = 0; i < count; i++) {
		struct listener *listener = &listeners.at[i];
		int err;

		listener->fd = FIRST_FD + (int)i;
		err = can_be_served(listener->fd) ? set_flags(listener->fd) : -ENOTSOCK;
		if (err) {
			snprintf(why, 256,
			         "cannot listen on descriptor %d that was handed over: a listening "
			         "stream socket, unix or TCP, is accepted",
			         listener->fd);
			return err;
		}
		listener_name(listener);
		listeners.count++;
	}
	*ret_listeners = listeners;
	return 0;
}

int handed_take(struct listeners *ret_listeners, char ret_why[256])
{
	const char *count = getenv("LISTEN_FDS");
	int err = 0;

	*ret_listeners = (struct listeners){0};
	if (count && is_for_us(getenv("LISTEN_PID")))
		err = take(count, ret_listeners, ret_why);
	/* The processes that profd starts must not inherit these. */
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	return err;
}
