/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The service manager's notification socket.
 */
#include "notify.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { MAX_STATE_BYTES = 256 };

bool notify_wanted(void)
{
	const char *path = getenv("NOTIFY_SOCKET");

	return path && path[0];
}

static int send_state(const char *state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *path = getenv("NOTIFY_SOCKET");
	size_t len = path ? strlen(path) : 0;
	_cleanup_close_ int fd = -1;

	if (!len)
		return 0;
	if ((path[0] != '/' && path[0] != '@') || len >= sizeof(address.sun_path))
		return -EINVAL;
	memcpy(address.sun_path, path, len);
	if (path[0] == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address,
	           (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)) < 0)
		return -errno;
	return 0;
}

int notify_send(const char *format, ...)
{
	char state[MAX_STATE_BYTES];
	va_list arguments;
	int len;

	va_start(arguments, format);
	len = vsnprintf(state, sizeof(state), format, arguments);
	va_end(arguments);
	return len < 0 || (size_t)len >= sizeof(state) ? -EMSGSIZE : send_state(state);
}
