/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Listening sockets: turns the text of --listen into a bound descriptor. Addresses are numeric, so
 * nothing waits for a name server.
 */
#include "http/listen.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The kernel caps the value at net.core.somaxconn. */
enum { LISTEN_BACKLOG = 4096 };

static int parse_unix(const char *path, struct listen_address *ret_address)
{
	struct listen_address address = {.socket.local.sun_family = AF_UNIX};
	size_t len = strlen(path);

	if (!len || len >= sizeof(address.socket.local.sun_path))
		return -EINVAL;
	memcpy(address.socket.local.sun_path, path, len + 1);
	address.socket_len = sizeof(address.socket.local);
	*ret_address = address;
	return 0;
}

static int parse_host(const char *host, uint16_t port, struct listen_address *ret_address)
{
	struct listen_address address = {0};
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	size_t len = strlen(host);
	char bare[INET6_ADDRSTRLEN];

	if (!strcmp(host, "localhost"))
		host = "127.0.0.1";
	if (!len) {
		address.both_families = true;
		v6.sin6_addr = in6addr_any;
	} else if (host[0] == '[' && host[len - 1] == ']' && len - 2 < sizeof(bare)) {
		memcpy(bare, host + 1, len - 2);
		bare[len - 2] = '\0';
		if (inet_pton(AF_INET6, bare, &v6.sin6_addr) != 1)
			return -EINVAL;
	} else {
		if (inet_pton(AF_INET, host, &v4.sin_addr) != 1)
			return -EINVAL;
		memcpy(&address.socket, &v4, sizeof(v4));
		address.socket_len = sizeof(v4);
		*ret_address = address;
		return 0;
	}
	memcpy(&address.socket, &v6, sizeof(v6));
	address.socket_len = sizeof(v6);
	*ret_address = address;
	return 0;
}

int listen_parse(const char *text, struct listen_address *ret_address)
{
	char host[64];
	const char *colon;
	uint64_t port;

	if (!strncmp(text, "unix:", 5))
		return parse_unix(text + 5, ret_address);
	colon = strrchr(text, ':');
	if (!colon || (size_t)(colon - text) >= sizeof(host))
		return -EINVAL;
	memcpy(host, text, (size_t)(colon - text));
	host[colon - text] = '\0';
	/* Port 0 asks the kernel for a free port; the start message reports it. */
	if (text_parse_u64(colon + 1, 0, 65535, &port) < 0)
		return -EINVAL;
	return parse_host(host, (uint16_t)port, ret_address);
}

bool listen_is_local(const struct listen_address *address)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	switch (address->socket.any.sa_family) {
	case AF_INET:
		memcpy(&v4, &address->socket, sizeof(v4));
		return ntohl(v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	case AF_INET6:
		memcpy(&v6, &address->socket, sizeof(v6));
		if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr))
			return v6.sin6_addr.s6_addr[12] == IN_LOOPBACKNET;
		return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
	default:
		return true;
	}
}

/* A socket file whose process is gone refuses connections. Only such a file may be replaced. */
static int unlink_stale(const struct listen_address *address)
{
	const char *path = address->socket.local.sun_path;
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (!connect(fd, &address->socket.any, address->socket_len) || errno != ECONNREFUSED)
		return -EADDRINUSE;
	return unlink(path) < 0 ? -errno : 0;
}

static int set_flag(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) < 0 ? -errno : 0;
}

static int open_socket(struct listen_address *address, int *ret_fd)
{
	_cleanup_close_ int fd = -1;
	int family = address->socket.any.sa_family;
	int err = 0;

	fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 && errno == EAFNOSUPPORT && address->both_families) {
		struct sockaddr_in6 v6;
		struct sockaddr_in v4 = {.sin_family = AF_INET};

		memcpy(&v6, &address->socket, sizeof(v6));
		v4.sin_port = v6.sin6_port;
		memcpy(&address->socket, &v4, sizeof(v4));
		address->socket_len = sizeof(v4);
		address->both_families = false;
		return open_socket(address, ret_fd);
	}
	if (fd < 0)
		return -errno;
	if (family == AF_UNIX)
		err = unlink_stale(address);
	else
		err = set_flag(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (!err && family == AF_INET6)
		err = set_flag(fd, IPPROTO_IPV6, IPV6_V6ONLY, !address->both_families);
	if (err)
		return err;
	/* The file gets the socket's mode without the bits of the umask: it is never open to
	 * others, not even briefly. */
	if (family == AF_UNIX && fchmod(fd, 0660) < 0)
		return -errno;
	if (bind(fd, &address->socket.any, address->socket_len) < 0)
		return -errno;
	if (family == AF_UNIX && chmod(address->socket.local.sun_path, 0660) < 0)
		return -errno;
	if (listen(fd, LISTEN_BACKLOG) < 0)
		return -errno;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* The length that the kernel returns may include a final NUL or padding, as the binding process
 * passed it. */
static void name_unix(char name[128], const struct sockaddr_un *bound, socklen_t len)
{
	size_t offset = offsetof(struct sockaddr_un, sun_path);
	int path_len = len > offset ? (int)(len - offset) : 0;

	if (path_len && !bound->sun_path[0])
		snprintf(name, 128, "unix:@%.*s", path_len - 1, bound->sun_path + 1);
	else
		snprintf(name, 128, "unix:%.*s", path_len, bound->sun_path);
}

void listener_name(struct listener *listener)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
		struct sockaddr_un local;
		struct sockaddr_storage storage;
	} bound = {0};
	socklen_t len = sizeof(bound);
	char host[INET6_ADDRSTRLEN] = "";

	getsockname(listener->fd, &bound.any, &len);
	listener->local = bound.any.sa_family == AF_UNIX;
	if (listener->local) {
		name_unix(listener->name, &bound.local, len);
	} else if (bound.any.sa_family == AF_INET) {
		inet_ntop(AF_INET, &bound.v4.sin_addr, host, sizeof(host));
		snprintf(listener->name, sizeof(listener->name), "%s:%u", host,
		         ntohs(bound.v4.sin_port));
	} else {
		inet_ntop(AF_INET6, &bound.v6.sin6_addr, host, sizeof(host));
		snprintf(listener->name, sizeof(listener->name), "[%s]:%u", host,
		         ntohs(bound.v6.sin6_port));
	}
}

int listeners_open(const char *const *addresses, size_t count, struct listeners *ret_listeners,
                   char ret_why[256])
{
	struct listeners listeners = {0};

	for (size_t i = 0; i < count && i < MAX_LISTENERS; i++) {
		struct listener *listener = &listeners.at[i];
		struct listen_address address;
		int err;

		err = listen_parse(addresses[i], &address);
		if (!err)
			err = open_socket(&address, &listener->fd);
		if (err) {
			snprintf(ret_why, 256, "cannot listen on %.100s: %s%s", addresses[i],
			         strerror(-err),
			         err == -EADDRINUSE ? " (choose another with --listen)" : "");
			listeners_release(&listeners);
			return err;
		}
		if (address.socket.any.sa_family == AF_UNIX)
			memcpy(listener->path, address.socket.local.sun_path,
			       sizeof(listener->path));
		listener_name(listener);
		listeners.count++;
	}
	*ret_listeners = listeners;
	return 0;
}

void listeners_release(struct listeners *listeners)
{
	for (size_t i = 0; i < listeners->count; i++) {
		struct listener *listener = &listeners->at[i];

		if (listener->fd >= 0)
			close(listener->fd);
		if (listener->path[0])
			unlink(listener->path);
	}
	listeners->count = 0;
}
