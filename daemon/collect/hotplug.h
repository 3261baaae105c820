/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tells when a CPU came or went, from the kernel's uevents (NETLINK_KOBJECT_UEVENT). Loop thread
 * only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

struct hotplug {
	uv_poll_t poll;
	int fd;
	void (*changed)(void *ctx);
	void *ctx;
};

/* An error leaves the daemon with the CPUs it has. */
int hotplug_start(struct hotplug *hotplug, uv_loop_t *loop, void (*changed)(void *ctx), void *ctx);
void hotplug_stop(struct hotplug *hotplug); /* may be called when it never started */

/* Whether the text of a uevent is about a CPU coming or going, e.g.
 * "offline@/devices/system/cpu/cpu1". */
bool hotplug_is_cpu(const char *uevent, size_t len);
