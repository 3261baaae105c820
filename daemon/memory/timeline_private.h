/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The tables of struct timeline, and how they stay within their bounds (timeline_room.c). Private
 * to timeline.c and that.
 */
#pragma once

#include "memory/timeline.h"

#include "base/table.h"

/* What one account (base/accounts.h) has in the tables. */
struct timeline_account {
	uint32_t account;
	size_t processes, groups;
	size_t ended; /* of the processes */
	size_t loose; /* bytes that it could give back, when they were counted last */
	UT_hash_handle hh;
};

struct group {
	struct timeline_group seen;
	char *path;
	struct timeline_account *account;
	size_t holders;
	UT_hash_handle hh;
};

struct process {
	struct timeline_process seen;
	struct group *group;
	struct timeline_account *account;
	UT_hash_handle hh;
};

struct timeline {
	struct timeline_limits limits;
	struct process *processes;
	struct group *groups;
	struct timeline_account *accounts;
	struct shares room;       /* of floors; part of the limit */
	struct shares group_room; /* as a number of groups */
	uint64_t evicted, dropped;
};

/* Stays until the next timeline_forget_accounts() at the least. NULL: out of memory. */
struct timeline_account *timeline_account(struct timeline *timeline, uint32_t user);
/* Those that have nothing. */
void timeline_forget_accounts(struct timeline *timeline);

/* Out of the tables. */
void timeline_drop_process(struct timeline *timeline, struct process *process);
void timeline_drop_group(struct timeline *timeline, struct group *group);

/* For one more process of the account. */
bool timeline_make_room(struct timeline *timeline, const struct timeline_account *newcomer);
/* Where the whole is too much, something of one account goes. */
void timeline_shrink(struct timeline *timeline, uint64_t now_ms);
size_t timeline_bytes(const struct timeline *timeline);
