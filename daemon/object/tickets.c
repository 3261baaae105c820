/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "object/tickets.h"

#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>

#include <utlist.h>

static const uint64_t patience_ns = 10 * NSEC_PER_SEC;

static struct ticket *find(const struct tickets *tickets, uint32_t number)
{
	struct ticket *ticket;

	HASH_FIND(hh, tickets->by_number, &number, sizeof(number), ticket);
	return ticket;
}

static void drop(struct tickets *tickets, struct ticket *ticket)
{
	if (ticket->id) {
		DL_DELETE(tickets->opened, ticket);
		shares_give(&tickets->kept, ticket->user, 1);
	} else if (ticket->is_wanted) {
		shares_give(&tickets->awaited, ticket->user, 1);
	}
	HASH_DEL(tickets->by_number, ticket);
	free(ticket);
}

void tickets_init(struct tickets *tickets)
{
	*tickets = (struct tickets){
		.awaited.whole = MAX_TICKETS,
		.kept.whole = MAX_TICKETS_KEPT,
	};
}

void tickets_begin(struct tickets *tickets, uint32_t number, uint32_t user)
{
	struct ticket *ticket = calloc(1, sizeof(*ticket));

	if (!ticket)
		return;
	ticket->number = number;
	ticket->user = user;
	HASH_ADD(hh, tickets->by_number, number, sizeof(number), ticket);
	if (!ticket->hh.tbl)
		free(ticket);
}

void tickets_want(struct tickets *tickets, uint32_t number, uint64_t now_ns)
{
	struct ticket *ticket = find(tickets, number);

	if (ticket && ticket->is_wanted)
		return;
	if (!ticket || !shares_take(&tickets->awaited, ticket->user, 1)) {
		tickets->refused++;
		return;
	}
	ticket->is_wanted = true;
	ticket->wanted_ns = now_ns;
}

static bool make_room(struct tickets *tickets, uint32_t user)
{
	while (!shares_take(&tickets->kept, user, 1)) {
		struct ticket *oldest = tickets->opened;

		while (oldest && oldest->user != user)
			oldest = oldest->next;
		if (!oldest)
			return false;
		drop(tickets, oldest);
	}
	return true;
}

bool tickets_redeem(struct tickets *tickets, uint32_t number, uint32_t id)
{
	struct ticket *ticket = find(tickets, number);

	if (!ticket)
		return false;
	if (!id || !ticket->is_wanted || !make_room(tickets, ticket->user)) {
		drop(tickets, ticket);
		return false;
	}
	shares_give(&tickets->awaited, ticket->user, 1);
	ticket->id = id;
	DL_APPEND(tickets->opened, ticket);
	return true;
}

int tickets_find(const struct tickets *tickets, uint32_t number, uint64_t now_ns, uint32_t *ret_id)
{
	const struct ticket *ticket = find(tickets, number);

	if (!ticket || !ticket->is_wanted)
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
	shares_clear(&tickets->awaited);
	shares_clear(&tickets->kept);
}
