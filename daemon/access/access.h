/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct access - who may ask over TCP, and how that wire is protected: the web configuration of
 * --web-config with what it names, and what has been found out about passwords. Without such a file
 * everybody may, in the clear. Loop thread only.
 */
#pragma once

#include "access/passwords.h"
#include "access/tls.h"

enum { ACCESS_WHY_BYTES = 256 };

/* COUNTER(name, help) */
#define ACCESS_COUNTERS(COUNTER)                                                              \
	COUNTER(passwords_checked, "Passwords hashed to find out whether they are right")     \
	COUNTER(passwords_wrong, "Requests refused because user or password were wrong")      \
	COUNTER(passwords_missing, "Requests refused because there was no user")              \
	COUNTER(passwords_shed, "Requests refused because too many passwords were to check")  \
	COUNTER(certificates_refused, "Requests refused because a client certificate is not " \
	                              "accepted any longer")                                  \
	COUNTER(requests_limited, "Requests refused by rate_limit of the web configuration")

struct access_stats {
#define COUNTER(name, help) uint64_t name;
	ACCESS_COUNTERS(COUNTER)
#undef COUNTER
};

struct access {
	char *path; /* of the web configuration; NULL: there is none */
	struct web_config config;
	struct tls *tls; /* NULL: in the clear */
	struct passwords *passwords;
	uint64_t paid_ns; /* by when the requests so far are within rate_limit */
	struct access_stats stats;
};

/* `path` may be NULL. -EBADMSG: the file, or what it names, cannot be used; -ENOMEM. With `why`,
 * one line for a person. */
int access_open(const char *path, struct access **ret_access, char ret_why[ACCESS_WHY_BYTES]);
void access_free(struct access *access); /* takes NULL */
DEFINE_CLEANUP(struct access *, access_free)

/* Whether a listener that other hosts reach may be opened: -EBADMSG with `why`, which says what is
 * accepted. */
int access_guards(const struct access *access, const char *listener,
                  char ret_why[ACCESS_WHY_BYTES]);

/* Takes over what `with`, which is freed, says; passwords found right, and counters, stay.
 * -EBADMSG with `why`: a listener cannot begin or cease to be encrypted. */
int access_replace(struct access *access, struct access *with, char ret_why[ACCESS_WHY_BYTES]);

/* Whether one more request is within rate_limit. */
bool access_pays(struct access *access, uint64_t now_ns);
