/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Who is one where shares are concerned. Whoever was given subordinate ids (subuid(5)) can be any
 * of them, in user namespaces of his own: all of them are his account. Everybody else is an account
 * of his own, and so is a range that root was given, for containers. Read once, before there is a
 * second thread; then any thread.
 */
#pragma once

#include "base/text.h"

/* The user himself, or who was given him; the first id of the range where that one has no line in
 * /etc/passwd. */
uint32_t account_of(uint32_t user);

/* Reads /etc/subuid and /etc/passwd. Name services may ask a server: they are not asked. */
void accounts_read(void);
/* The same from what the files say. Ranges beyond 65,536 are left out, and what is no line of them.
 */
void accounts_set(struct text subuid, struct text passwd);
void accounts_clear(void);

/* Subordinate ids from `first` to `last` are that account. */
struct account_ids {
	uint32_t first, last, account;
};
/* Sorted by the first; of those that a user is in the last one counts. Until they are read anew. */
const struct account_ids *accounts_ids(size_t *ret_count);
