/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct reader_groups - the control groups that processes are in, each read once a reading. A
 * group keeps its number for as long as some process uses it. Private to this folder; as the
 * reader, one thread at a time. The account of the user whose process brought a group may have half
 * of all of them.
 */
#pragma once

#include "base/shares.h"
#include "memory/reader.h"
#include "base/table.h"

struct reader_group {
	uint32_t number;
	uint32_t user;  /* who brought it */
	char *own;      /* path that a process is in */
	char *path;     /* of the group whose limit that is; `own` where there is none */
	uint32_t index; /* among the readings, or MEMORY_NO_GROUP */
	struct control_group_usage usage; /* as of `read_ms` */
	uint64_t read_ms, looked_ms;      /* its limit was looked for, too; 0: not yet */
	bool used, changed;
	UT_hash_handle hh;      /* by `own` */
	UT_hash_handle told_hh; /* by `path`: the first one told with it */
};

struct reader_groups {
	struct control_group_mount mount;
	struct reader_group **at; /* by number; NULL: it is free */
	uint32_t count, free;     /* no number below `free` is */
	struct reader_group *by_own, *told;
	struct shares share; /* as a number of groups */
	uint64_t refused;    /* for lack of room */
	uint64_t now_ms;
	struct memory_group_reading *readings;
	size_t reading_count;
};

void reader_groups_init(struct reader_groups *groups); /* reads where they are mounted */
void reader_groups_release(struct reader_groups *groups);

/* Around a reading; at its end the groups are read that were used in it: those in which a process
 * has `changed` or that are near their limit, the others now and then. 0 or -ENOMEM. */
void reader_groups_begin(struct reader_groups *groups, uint64_t now_ms);
int reader_groups_end(struct reader_groups *groups);
/* The group that the text of the user's /proc/PID/cgroup names, used in this reading;
 * MEMORY_NO_GROUP. */
uint32_t reader_groups_find(struct reader_groups *groups, uint32_t user, const char *text,
                            size_t len);
void reader_groups_use(struct reader_groups *groups, uint32_t group, bool changed);

/* After a reading. */
uint32_t reader_groups_index(const struct reader_groups *groups, uint32_t group);
const struct memory_group_reading *reader_groups_all(const struct reader_groups *groups,
                                                     size_t *ret_count);
