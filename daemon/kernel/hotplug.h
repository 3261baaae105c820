/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reports when a CPU comes online or goes offline, from the kernel's uevents
 * (NETLINK_KOBJECT_UEVENT). Loop thread only.
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

/* After an error the daemon stays with the CPUs that it has. */
int hotplug_start(struct hotplug *hotplug, uv_loop_t *loop, void (*changed)(void *ctx), void *ctx);
void hotplug_stop(struct hotplug *hotplug); /* also if it was never started */

/* Whether the text of a uevent says that a CPU came online or went offline, e.g.
 * "offline@/devices/system/cpu/cpu1". */
bool hotplug_is_cpu(const char *uevent, size_t len);
