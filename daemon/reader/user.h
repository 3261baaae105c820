/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which user a reader process of a daemon that is root becomes. Not "nobody": other services share
 * that user, and whoever has a process's user id may stop, kill and trace it. The id is one that
 * nothing on the host hands out. No state; any thread.
 */
#pragma once

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	/* Distributions and systemd give out none between 1,879,048,192 and 2,147,352,575
	 * (systemd, "Users, Groups, UIDs and GIDs"), SSSD and FreeIPA none above 2,000,200,000
	 * (sssd-ldap(5), ldap_idmap_range_max). */
	READER_USER_FIRST = 2100000000,
	READER_USER_COUNT = 1000,
	/* Where those are not mapped, in a container with user ids of its own: the ids that systemd
	 * leaves between those of dynamic users and nobody's. */
	CONTAINER_USER_FIRST = 65520,
	CONTAINER_USER_COUNT = 14,
};

/* Who talks to servers is somebody else than who reads files: neither may signal the other. */
enum { USER_OF_READER, USER_OF_FETCHER };

/* Of the ids of those ranges that no line of /etc/passwd, group, subuid or subgid has, and that the
 * user namespace maps, the first, or the `which`th after it; it serves as user and group. 0 when
 * there is none. */
uint32_t user_pick(unsigned int which);

/* Whether a file in the format of passwd(5) or group(5) has that id. */
bool user_is_named(struct text names, uint32_t id);
/* Whether a file in the format of subuid(5) gives it to somebody. */
bool user_is_delegated(struct text ranges, uint32_t id);
/* Whether a file in the format of /proc/PID/uid_map maps it. */
bool user_is_mapped(struct text map, uint32_t id);
