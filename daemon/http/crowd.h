/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct crowd - how many requests are under way, all together and of each client. Bounded by how
 * many there may be. Loop thread only.
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

/* One more of this client; NULL: of one that is not counted by itself. -EAGAIN: there are as many
 * as there may be; -EUSERS: the client has as many as it may have; -ENOMEM. */
int crowd_enter(struct crowd *crowd, const struct in6_addr *client, struct crowd_limits limits);
/* The same for a client who may have as many as are left of all: who comes alone has half of them.
 * -EDQUOT: it has as many. */
int crowd_enter_share(struct crowd *crowd, const struct in6_addr *client, size_t all);
/* As many times as it has entered. */
void crowd_leave(struct crowd *crowd, const struct in6_addr *client);
