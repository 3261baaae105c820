/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "object/tickets.h"

#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>

static const uint64_t patience_ns = 10 * NSEC_PER_SEC;

static struct ticket *find(const struct tickets *tickets, uint32_t number)
{
	struct ticket *ticket;

	HASH_FIND(hh, tickets->by_number, &number, sizeof(number), ticket);
	return ticket;
}

static void drop(struct tickets *tickets, struct ticket *ticket)
{
	if (ticket->id)
		shares_give(&tickets->shares, ticket->user, 1);
	HASH_DEL(tickets->by_number, ticket);
	free(ticket);
}

void tickets_want(struct tickets *tickets, uint32_t number, uint64_t now_ns)
{
	struct ticket *ticket;

	if (HASH_COUNT(tickets->by_number) >= MAX_TICKETS || find(tickets, number))
		return;
	ticket = calloc(1, sizeof(*ticket));
	if (!ticket)
		return;
	ticket->number = number;
	ticket->wanted_ns = now_ns;
	HASH_ADD(hh, tickets->by_number, number, sizeof(number), ticket);
	if (!ticket->hh.tbl)
		free(ticket);
}

static bool make_room(struct tickets *tickets, uint32_t user)
{
	tickets->shares.whole = MAX_TICKETS_KEPT;
	while (!shares_take(&tickets->shares, user, 1)) {
		struct ticket *oldest = tickets->by_number;

		while (oldest && (!oldest->id || oldest->user != user))
			oldest = oldest->hh.next;
		if (!oldest)
			return false;
		drop(tickets, oldest);
	}
	return true;
}

bool tickets_redeem(struct tickets *tickets, uint32_t number, uint32_t user, uint32_t id)
{
	struct ticket *ticket = find(tickets, number);

	if (!ticket)
		return false;
	if (!id || !make_room(tickets, user)) {
		drop(tickets, ticket);
		return false;
	}
	ticket->id = id;
	ticket->user = user;
	return true;
}

int tickets_find(const struct tickets *tickets, uint32_t number, uint64_t now_ns, uint32_t *ret_id)
{
	const struct ticket *ticket = find(tickets, number);

	if (!ticket)
		return -ENOENT;
	*ret_id = ticket->id;
	if (ticket->id)
		return 0;
	return now_ns - ticket->wanted_ns < patience_ns ? -EAGAIN : -ETIMEDOUT;
}

void tickets_clear(struct tickets *tickets)
{
	while (tickets->by_number)
		drop(tickets, tickets->by_number);
	shares_clear(&tickets->shares);
}
