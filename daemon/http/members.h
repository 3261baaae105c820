/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct members - the users of a group, by number, as they were when they were read. Who is a
 * member may be known to a directory server only, which may take its time or not answer at all: so
 * it is read at the start and on SIGHUP, and a request is held against the result. Immutable; any
 * thread.
 */
#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct members;

/* By getgrnam(3): those it lists, and those whose own group it is. May block, and uses getpwent(3),
 * so one call at a time. -ENOENT: there is no such group; -E2BIG: more than MAX_GROUP_MEMBERS. */
int members_read(const char *group, struct members **ret_members);
/* Of these users; as many may be the same. NULL when out of memory. */
struct members *members_new(const uint32_t *uids, size_t count);
void members_free(struct members *members);
DEFINE_CLEANUP(struct members *, members_free)

/* Root is not one of every group. */
bool members_have(const struct members *members, uint32_t uid);
size_t members_count(const struct members *members);
