/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct identity - the systemd unit, container and Kubernetes pod that a process belongs to,
 * according to its cgroup path. Parsing is pure; a shared identity belongs to one thread.
 */
#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	UNIT_BYTES = 256,     /* systemd's limit, and a NUL */
	CONTAINER_BYTES = 65, /* a machine's name is a host name: 64 bytes, and a NUL */
	POD_BYTES = 37,       /* a UUID */
};

/* Each field is "" when the process belongs to none. */
struct identity {
	char unit[UNIT_BYTES];
	char container[CONTAINER_BYTES]; /* the first 12 digits of an id, or a name */
	char pod[POD_BYTES];             /* its uid */
	int references;
};

/* Parses the text of /proc/PID/cgroup of any hierarchy: unified, legacy, or both. When units,
 * containers or pods are nested, the innermost one counts. A unit or container below a user's own
 * systemd is prefixed with the name of the latter, and has no pod: user@1000.service/app.scope.
 * Never fails: any other text gives an empty identity. */
void identity_parse(const char *cgroup_text, size_t len, struct identity *ret_identity);
bool identity_equal(const struct identity *a, const struct identity *b);

/* Reads the identity of `pid` from /proc. When `like` is not NULL and equal, returns `like` with
 * one more reference. -ESRCH when the process is gone or ending, or is a kernel thread. */
int identity_read(uint32_t pid, struct identity *like, struct identity **ret_identity);
struct identity *identity_ref(struct identity *identity); /* takes NULL */
void identity_unref(struct identity *identity);           /* takes NULL */
DEFINE_CLEANUP(struct identity *, identity_unref)
