/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct passwords - is this the password of that user? A bcrypt hash takes a twentieth of a second
 * and more, on purpose, so what was found out is remembered for a while: not the password, but a
 * hash of user, password and stored hash under a key that nobody else has. A user that is removed,
 * or has another password, is thereby forgotten at once.
 *
 * Somebody who asks for a user that does not exist waits as long as for a wrong password.
 *
 * password_check_run() is for a worker thread; all else for the loop thread.
 */
#pragma once

#include "access/web_config.h"
#include "base/cleanup.h"

enum { PASSWORD_TAG_BYTES = 32, BCRYPT_HASH_BYTES = 61 };

struct passwords;

/* One password to be hashed. Holds it; wipe it when it is no longer needed. */
struct password_check {
	char hash[BCRYPT_HASH_BYTES];
	char password[MAX_CREDENTIAL_BYTES];
	uint8_t tag[PASSWORD_TAG_BYTES];
	bool known; /* there is such a user */
	bool right; /* the result */
};

enum password_answer {
	PASSWORD_RIGHT,
	PASSWORD_WRONG,
	PASSWORD_TO_CHECK, /* not asked before, or long ago */
};

/* NULL: out of memory or of random numbers. */
struct passwords *passwords_new(void);
void passwords_free(struct passwords *passwords); /* takes NULL */
DEFINE_CLEANUP(struct passwords *, passwords_free)

/* Fills in the check where one is needed. There must be users. */
enum password_answer passwords_ask(struct passwords *passwords, const struct web_config *config,
                                   const char *user, const char *password, uint64_t now_ns,
                                   struct password_check *ret_check);
/* 0 or -ENOMEM: nothing was found out. */
int password_check_run(struct password_check *check);
/* Remembers the result of a check that has run. */
void passwords_tell(struct passwords *passwords, const struct password_check *check,
                    uint64_t now_ns);
