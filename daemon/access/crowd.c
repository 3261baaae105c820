/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Counts by address; an entry is removed when its count becomes 0.
 */
#include "access/crowd.h"

#include "base/table.h"

#include <errno.h>
#include <stdlib.h>

struct crowd_client {
	struct in6_addr address;
	size_t count;
	UT_hash_handle hh;
};

static struct crowd_client *find(const struct crowd *crowd, const struct in6_addr *address)
{
	struct crowd_client *client;

	HASH_FIND(hh, crowd->clients, address, sizeof(*address), client);
	return client;
}

static struct crowd_client *add(struct crowd *crowd, const struct in6_addr *address)
{
	struct crowd_client *client = calloc(1, sizeof(*client));

	if (!client)
		return NULL;
	client->address = *address;
	HASH_ADD(hh, crowd->clients, address, sizeof(client->address), client);
	/* uthash does not add the client when it is out of memory. */
	if (!client->hh.tbl) {
		free(client);
		return NULL;
	}
	return client;
}

static size_t count_of(const struct crowd *crowd, const struct in6_addr *address)
{
	const struct crowd_client *client = address ? find(crowd, address) : NULL;

	return client ? client->count : 0;
}

static int enter(struct crowd *crowd, const struct in6_addr *address)
{
	struct crowd_client *client = address ? find(crowd, address) : NULL;

	if (address && !client) {
		client = add(crowd, address);
		if (!client)
			return -ENOMEM;
	}
	if (client)
		client->count++;
	crowd->count++;
	return 0;
}

int crowd_enter(struct crowd *crowd, const struct in6_addr *address, struct crowd_limits limits)
{
	if (crowd->count >= limits.all)
		return -EAGAIN;
	if (address && count_of(crowd, address) >= limits.each)
		return -EUSERS;
	return enter(crowd, address);
}

int crowd_enter_share(struct crowd *crowd, const struct in6_addr *address, size_t all)
{
	if (crowd->count >= all)
		return -EAGAIN;
	if (count_of(crowd, address) >= all - crowd->count)
		return -EDQUOT;
	return enter(crowd, address);
}

void crowd_leave(struct crowd *crowd, const struct in6_addr *address)
{
	struct crowd_client *client = address ? find(crowd, address) : NULL;

	crowd->count--;
	if (!client || --client->count)
		return;
	HASH_DEL(crowd->clients, client);
	free(client);
}
