/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct asked - which debug files were asked for, and by which account: in a queue where accounts
 * take turns, until it is known what came of it. What each account asks for is its own, also where
 * another one has asked for the same: nobody waits in another's turn, and what nothing came of
 * because it was enough for one account is not kept from others. Pure; one thread at a time.
 */
#pragma once

#include "base/bounds.h"

#include "base/table.h"

#include <stdbool.h>
#include <stdint.h>

/* Instead of an account: what nothing came of whoever asks. */
#define EVERYBODY UINT64_MAX

struct want {
	struct want_key {
		char build_id[2 * MAX_BUILD_ID_BYTES + 1];
		char unused[7];
		uint64_t account;
	} key;
	bool waiting;
	uint64_t again_ns;        /* else: when it may be asked for again */
	struct want *prev, *next; /* in the queue */
	UT_hash_handle hh;
};
_Static_assert(sizeof(struct want_key) == 144, "no padding");

struct asked {
	struct want *wants, *queue;
};

/* NULL: it is not there. */
struct want *asked_find(const struct asked *asked, const char *build_id, uint64_t account);
/* At the end of the queue, and where there are too many, for what nothing came of longest ago; it
 * is not there yet. NULL: out of memory. */
struct want *asked_add(struct asked *asked, const char *build_id, uint64_t account);
/* Whose turn it is, out of the queue; NULL: nobody waits. */
struct want *asked_next(struct asked *asked);
/* Nothing came of it, for that account or EVERYBODY. It may be asked for again at that time. */
void asked_miss(struct asked *asked, struct want *want, uint64_t account, uint64_t again_ns);
/* Nothing came of it, and it is not time yet. */
bool asked_is_missing(struct asked *asked, const char *build_id, uint64_t account, uint64_t now_ns);
/* It is in no queue any more. */
void asked_forget(struct asked *asked, struct want *want);
void asked_release(struct asked *asked);
