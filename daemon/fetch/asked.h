/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct asked - the debug files that were requested and the accounts that requested them: in a
 * queue where accounts take turns, until the outcome is known. Each account has requests of its
 * own, even for a file that another account requests: so no account waits for another's turn, and a
 * file that was not fetched because one account had used up its budget is not withheld from others.
 * Pure; one thread at a time.
 */
#pragma once

#include "base/bounds.h"
#include "base/table.h"

#include <stdbool.h>
#include <stdint.h>

/* In place of an account: the file was not to be had for any account. */
#define EVERYBODY UINT64_MAX

struct want {
	struct want_key {
		char build_id[2 * MAX_BUILD_ID_BYTES + 1];
		char unused[7];
		uint64_t account;
	} key;
	bool waiting;
	uint64_t again_ns;        /* otherwise: when it may be requested again */
	struct want *prev, *next; /* of the queue */
	UT_hash_handle hh;
};
_Static_assert(sizeof(struct want_key) == 144, "no padding");

struct asked {
	struct want *wants, *queue;
};

/* NULL: there is no such entry. */
struct want *asked_find(const struct asked *asked, const char *build_id, uint64_t account);
/* Appends an entry to the queue; it must not exist yet. When there are too many entries the oldest
 * one without success is dropped. NULL: out of memory. */
struct want *asked_add(struct asked *asked, const char *build_id, uint64_t account);
/* Takes the entry whose turn it is out of the queue; NULL: the queue is empty. */
struct want *asked_next(struct asked *asked);
/* The download failed, for that account or EVERYBODY. The file may be requested again at that time.
 */
void asked_miss(struct asked *asked, struct want *want, uint64_t account, uint64_t again_ns);
/* Whether the download failed and that time has not come yet. */
bool asked_is_missing(struct asked *asked, const char *build_id, uint64_t account, uint64_t now_ns);
/* Removes an entry that is not in the queue. */
void asked_forget(struct asked *asked, struct want *want);
void asked_release(struct asked *asked);
