/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct identity - whose a process is: the systemd unit, container and Kubernetes pod it belongs
 * to, as the path of its cgroup tells. Parsing is pure; a shared identity belongs to one thread.
 */
#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	UNIT_BYTES = 256,     /* what systemd allows, and its NUL */
	CONTAINER_BYTES = 65, /* a machine's name is a host name: 64 */
	POD_BYTES = 37,       /* a UUID */
};

/* Each "" where it is in none. */
struct identity {
	char unit[UNIT_BYTES];
	char container[CONTAINER_BYTES]; /* an id's first 12 digits, as engines show it, or a name
	                                  */
	char pod[POD_BYTES];             /* its uid */
	int references;
};

/* Reads the text of /proc/PID/cgroup of any hierarchy: unified, legacy, or both. The innermost one
 * is told where several are nested, but what a user's own systemd has started has that one's name
 * before its own, and is in no pod: user@1000.service/app.scope. Never fails: what is no such text
 * tells nothing. */
void identity_parse(const char *cgroup_text, size_t len, struct identity *ret_identity);
bool identity_equal(const struct identity *a, const struct identity *b);

/* What /proc says about `pid`: `like`, when it is not NULL and the same, with one reference more.
 * -ESRCH when the process is gone, or ending, or one of the kernel's. */
int identity_read(uint32_t pid, struct identity *like, struct identity **ret_identity);
struct identity *identity_ref(struct identity *identity); /* takes NULL */
void identity_unref(struct identity *identity);           /* takes NULL */
DEFINE_CLEANUP(struct identity *, identity_unref)
