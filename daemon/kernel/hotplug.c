/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Listens on a netlink socket, so that the list of CPUs need not be polled.
 */
#include "kernel/hotplug.h"

#include "base/cleanup.h"

#include <errno.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>

enum { KERNEL_GROUP = 1 }; /* of NETLINK_KOBJECT_UEVENT: messages of the kernel, not of udev */

bool hotplug_is_cpu(const char *uevent, size_t len)
{
	static const char path[] = "@/devices/system/cpu/cpu";
	size_t first_line = strnlen(uevent, len);

	return memmem(uevent, first_line, path, sizeof(path) - 1) != NULL;
}

static void on_uevent(uv_poll_t *poll, int status, int events)
{
	struct hotplug *hotplug = poll->data;
	bool changed = false;
	char uevent[4096];
	ssize_t len;

	(void)status;
	(void)events;
	while ((len = recv(hotplug->fd, uevent, sizeof(uevent), MSG_DONTWAIT)) > 0)
		changed |= hotplug_is_cpu(uevent, (size_t)len);
	/* The socket's buffer had no room for all messages. One of them may have been about a
	 * CPU. */
	if (changed || (len < 0 && errno == ENOBUFS))
		hotplug->changed(hotplug->ctx);
}

int hotplug_start(struct hotplug *hotplug, uv_loop_t *loop, void (*changed)(void *ctx), void *ctx)
{
	struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = KERNEL_GROUP};
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
	                                NETLINK_KOBJECT_UEVENT);
	int err;

	hotplug->fd = -1;
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)))
		return -errno;
	err = uv_poll_init(loop, &hotplug->poll, fd);
	if (err)
		return err;
	hotplug->fd = TAKE_FD(fd);
	hotplug->changed = changed;
	hotplug->ctx = ctx;
	hotplug->poll.data = hotplug;
	return uv_poll_start(&hotplug->poll, UV_READABLE, on_uevent);
}

static void on_closed(uv_handle_t *handle)
{
	struct hotplug *hotplug = handle->data;

	close(hotplug->fd);
	hotplug->fd = -1;
}

void hotplug_stop(struct hotplug *hotplug)
{
	if (hotplug->changed)
		uv_close((uv_handle_t *)&hotplug->poll, on_closed);
}
