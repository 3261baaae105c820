/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Accounts: the unit that shares are given to. A user with subordinate ids (subuid(5)) can become
 * any of them in user namespaces of its own, so the user and these ids are one account. Every other
 * user is an account of its own. The tables are read once, before there is a second thread;
 * afterwards any thread may use them.
 */
#pragma once

#include "base/text.h"

#include <stdbool.h>

/* The account of a user: the user itself, or, for a subordinate id, the user to which the id was
 * given. The first id of the range when that user has no line in /etc/passwd. */
uint32_t account_of(uint32_t user);

/* Reads /etc/subuid and /etc/passwd. Name services are not used, because they may ask a server. */
void accounts_read(void);
/* The same from the text of the two files. Malformed lines and all ranges after the first 65,536
 * are left out. */
void accounts_set(struct text subuid, struct text passwd);
void accounts_clear(void);

/* Whom the operator trusts not to attack the host. Root is always trusted. */
enum accounts_trust {
	TRUST_ROOT,
	TRUST_EVERYBODY,
	/* The only person of the host as well: the user id from 1000 to 59999 that /etc/passwd has,
	 * if it has exactly one. Services have lower ids, and nobody a higher one. */
	TRUST_PERSON,
};

/* To be called before there is a second thread. Until then only root is trusted. */
void accounts_trust(enum accounts_trust whom);
/* False for OWNER_UNKNOWN (proc/owner.h), unless everybody is trusted. */
bool account_is_trusted(uint32_t account);

/* The subordinate ids from `first` to `last` belong to `account`. */
struct account_ids {
	uint32_t first, last, account;
};
/* All ranges, sorted by `first`. When ranges overlap, the last one that contains a user counts.
 * Valid until the files are read again. */
const struct account_ids *accounts_ids(size_t *ret_count);
