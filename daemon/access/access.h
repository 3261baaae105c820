/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct access - which clients may send requests over TCP, and how the connections are protected:
 * the web configuration of --web-config with the files that it names, and the remembered results of
 * password checks. Without such a file every client may, and nothing is encrypted. Loop thread
 * only.
 */
#pragma once

#include "access/passwords.h"
#include "access/tls.h"

enum { ACCESS_WHY_BYTES = 256 };

/* COUNTER(name, help) */
#define ACCESS_COUNTERS(COUNTER)                                                             \
	COUNTER(passwords_checked, "Passwords checked by hashing them")                      \
	COUNTER(passwords_wrong, "Requests refused because of a wrong user or password")     \
	COUNTER(passwords_missing, "Requests refused because they had no user and password") \
	COUNTER(passwords_shed,                                                              \
	        "Requests refused because too many passwords were waiting to be hashed")     \
	COUNTER(certificates_refused,                                                        \
	        "Requests refused because their client certificate is no longer accepted")   \
	COUNTER(requests_limited, "Requests refused by rate_limit of the web configuration")

struct access_stats {
#define COUNTER(name, help) uint64_t name;
	ACCESS_COUNTERS(COUNTER)
#undef COUNTER
};

struct access {
	char *path; /* of the web configuration; NULL: none */
	struct web_config config;
	struct tls *tls; /* NULL: not encrypted */
	struct passwords *passwords;
	uint64_t paid_ns; /* intervals of rate_limit up to this time are used up */
	struct access_stats stats;
};

/* `path` may be NULL. -EBADMSG: the file, or one that it names, cannot be used; -ENOMEM. `why` is
 * one line for a person. */
int access_open(const char *path, struct access **ret_access, char ret_why[ACCESS_WHY_BYTES]);
void access_free(struct access *access); /* takes NULL */
DEFINE_CLEANUP(struct access *, access_free)

/* Whether a listener that other hosts can reach may be opened: 0, or -EBADMSG with `why`, which
 * says what is accepted. */
int access_guards(const struct access *access, const char *listener,
                  char ret_why[ACCESS_WHY_BYTES]);

/* Takes over the configuration of `with` and frees `with`. Passwords found to be right and counters
 * stay. -EBADMSG with `why`: encryption of a listener cannot begin or end. */
int access_replace(struct access *access, struct access *with, char ret_why[ACCESS_WHY_BYTES]);

/* Whether one more request is within rate_limit. */
bool access_pays(struct access *access, uint64_t now_ns);
