/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The tables of struct timeline, and the functions that keep them within their bounds
 * (timeline_room.c). Private to timeline.c and timeline_room.c.
 */
#pragma once

#include "memory/timeline.h"
#include "base/table.h"

/* The part of the tables that belongs to one account (base/accounts.h). */
struct timeline_account {
	uint32_t account;
	size_t processes, groups;
	size_t ended; /* how many of the processes have ended */
	size_t loose; /* bytes that can be dropped, as of the last count */
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

/* The account of the user, valid at least until the next timeline_forget_accounts(). NULL: out of
 * memory. */
struct timeline_account *timeline_account(struct timeline *timeline, uint32_t user);
/* Frees the accounts without processes and groups. */
void timeline_forget_accounts(struct timeline *timeline);

/* Remove from the tables and free. */
void timeline_drop_process(struct timeline *timeline, struct process *process);
void timeline_drop_group(struct timeline *timeline, struct group *group);

/* Makes room for one more process of the account; false when there is none. */
bool timeline_make_room(struct timeline *timeline, const struct timeline_account *newcomer);
/* When the whole exceeds its limit, drops data of one account. */
void timeline_shrink(struct timeline *timeline, uint64_t now_ms);
size_t timeline_bytes(const struct timeline *timeline);
