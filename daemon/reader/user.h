/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Selects the user that a reader process becomes when the daemon is root. That is not "nobody":
 * other services share that user, and a process may stop, kill and trace all processes with the
 * same user id. The id is one that nothing on the host assigns. No state; any thread.
 */
#pragma once

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	/* Distributions and systemd assign no ids between 1,879,048,192 and 2,147,352,575 (systemd,
	 * "Users, Groups, UIDs and GIDs"), SSSD and FreeIPA none above 2,000,200,000 (sssd-ldap(5),
	 * ldap_idmap_range_max). */
	READER_USER_FIRST = 2100000000,
	READER_USER_COUNT = 1000,
	/* Used when those are not mapped, in a container with its own user namespace: the ids that
	 * systemd leaves free between those of dynamic users and that of nobody. */
	CONTAINER_USER_FIRST = 65520,
	CONTAINER_USER_COUNT = 14,
};

/* A process that talks to servers has another user than one that reads files, so that neither can
 * signal the other. */
enum { USER_OF_READER, USER_OF_FETCHER };

/* Returns the first id in these ranges, or the `which`th after it, that is in no line of
 * /etc/passwd, group, subuid or subgid and that the user namespace maps. The id serves as user and
 * group. 0 when there is none. */
uint32_t user_pick(unsigned int which);

/* Whether a file in the format of passwd(5) or group(5) has that id. */
bool user_is_named(struct text names, uint32_t id);
/* Whether a file in the format of subuid(5) assigns the id to a user. */
bool user_is_delegated(struct text ranges, uint32_t id);
/* Whether a file in the format of /proc/PID/uid_map maps the id. */
bool user_is_mapped(struct text map, uint32_t id);
