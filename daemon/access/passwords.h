/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct passwords - checks the passwords of users. A bcrypt hash takes 50 ms or more, by design,
 * so results are remembered for a while. The password itself is not remembered, only a hash of the
 * user, the password and the stored hash under a secret key. So results for a user that is removed,
 * or gets another password, are invalid at once.
 *
 * A check for a user that does not exist takes as long as one with a wrong password.
 *
 * password_check_run() is for a worker thread; all else for the loop thread.
 */
#pragma once

#include "access/web_config.h"
#include "base/cleanup.h"

enum { PASSWORD_TAG_BYTES = 32, BCRYPT_HASH_BYTES = 61 };

struct passwords;

/* One password to be hashed. Contains the password: wipe it when it is no longer needed. */
struct password_check {
	char hash[BCRYPT_HASH_BYTES];
	char password[MAX_CREDENTIAL_BYTES];
	uint8_t tag[PASSWORD_TAG_BYTES];
	bool known; /* the user exists */
	bool right; /* the result */
};

enum password_answer {
	PASSWORD_RIGHT,
	PASSWORD_WRONG,
	PASSWORD_TO_CHECK, /* no result is remembered */
};

/* NULL: out of memory, or no random numbers. */
struct passwords *passwords_new(void);
void passwords_free(struct passwords *passwords); /* takes NULL */
DEFINE_CLEANUP(struct passwords *, passwords_free)

/* Fills in the check when one is needed. The configuration must have users. */
enum password_answer passwords_ask(struct passwords *passwords, const struct web_config *config,
                                   const char *user, const char *password, uint64_t now_ns,
                                   struct password_check *ret_check);
/* 0, or -ENOMEM without a result. */
int password_check_run(struct password_check *check);
/* Remembers the result of a check that has run. */
void passwords_tell(struct passwords *passwords, const struct password_check *check,
                    uint64_t now_ns);
