/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct reader_groups - the control groups of processes, each read at most once in a reading. A
 * group keeps its number while any process uses it. A group counts against the account of the user
 * whose process made it known; an account may have half of all groups. Private to this folder; like
 * the reader, for one thread at a time.
 */
#pragma once

#include "base/shares.h"
#include "base/table.h"
#include "memory/readings.h"

struct reader_group {
	uint32_t number;
	uint32_t user;  /* of the process through which it became known */
	char *own;      /* path of the group that processes are in */
	char *path;     /* of the group whose limit applies; equal to `own` without a limit */
	uint32_t index; /* in the readings, or MEMORY_NO_GROUP */
	struct control_group_usage usage; /* as of `read_ms` */
	uint64_t read_ms, looked_ms;      /* looked_ms: limits were looked up; 0: not yet */
	bool used, changed;
	UT_hash_handle hh;      /* by `own` */
	UT_hash_handle told_hh; /* by `path`; only the first group with that path */
};

struct reader_groups {
	struct control_group_mount mount;
	struct reader_group **at; /* by number; NULL: the number is free */
	uint32_t count, free;     /* no number below `free` is free */
	struct reader_group *by_own, *told;
	struct shares share; /* as a number of groups */
	uint64_t refused;    /* for lack of room */
	uint64_t now_ms;
	struct memory_group_reading *readings;
	size_t reading_count;
};

void reader_groups_init(struct reader_groups *groups); /* finds the mount */
void reader_groups_release(struct reader_groups *groups);

/* Begin and end a reading. At the end, groups that were used in the reading are read: those with a
 * process that has `changed` and those near their limit each time, the others now and then. 0 or
 * -ENOMEM. */
void reader_groups_begin(struct reader_groups *groups, uint64_t now_ms);
int reader_groups_end(struct reader_groups *groups);
/* The group named in the text of /proc/PID/cgroup of a process of the user, marked as used in this
 * reading; or MEMORY_NO_GROUP. */
uint32_t reader_groups_find(struct reader_groups *groups, uint32_t user, const char *text,
                            size_t len);
void reader_groups_use(struct reader_groups *groups, uint32_t group, bool changed);

/* To be called after a reading. */
uint32_t reader_groups_index(const struct reader_groups *groups, uint32_t group);
const struct memory_group_reading *reader_groups_all(const struct reader_groups *groups,
                                                     size_t *ret_count);
