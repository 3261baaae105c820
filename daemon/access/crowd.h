/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct crowd - counts requests in flight, or open connections, in total and of each client,
 * within limits. Loop thread only.
 */
#pragma once

#include <netinet/in.h>
#include <stddef.h>

struct crowd_client;

struct crowd {
	size_t count;
	struct crowd_client *clients; /* by address */
};

struct crowd_limits {
	size_t all, each;
};

/* Counts one more for this client; NULL: only the total is counted. -EAGAIN: the total is at its
 * limit; -EUSERS: the client is at its limit; -ENOMEM. */
int crowd_enter(struct crowd *crowd, const struct in6_addr *address, struct crowd_limits limits);
/* The same for a client that may have as many as it leaves free: a single client gets half of all.
 * -EDQUOT: the client's share is used up. */
int crowd_enter_share(struct crowd *crowd, const struct in6_addr *address, size_t all);
/* Called once for each successful entry. */
void crowd_leave(struct crowd *crowd, const struct in6_addr *address);
