/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct members - the user ids of the members of a group, as of the time they were read. The
 * members may be known only to a directory server, which may be slow or not answer at all. So they
 * are read at the start and on SIGHUP, and requests are checked against the result. Immutable; any
 * thread.
 */
#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct members;

/* Uses getgrnam(3): the listed members, and the users whose primary group it is. May block, and
 * uses getpwent(3), so only one call may run at a time. -ENOENT: there is no such group; -E2BIG:
 * more than MAX_GROUP_MEMBERS. */
int members_read(const char *group, struct members **ret_members);
/* Makes a set of these users; duplicates are allowed. NULL when out of memory. */
struct members *members_new(const uint32_t *uids, size_t count);
void members_free(struct members *members);
DEFINE_CLEANUP(struct members *, members_free)

/* Root is not implicitly a member. */
bool members_have(const struct members *members, uint32_t uid);
size_t members_count(const struct members *members);
