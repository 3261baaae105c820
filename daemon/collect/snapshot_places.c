/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The waiting snapshots are in one list: there are few.
 */
#include "collect/snapshot_places.h"

#include <errno.h>

void snapshot_places_init(struct snapshot_places *places)
{
	*places = (struct snapshot_places){
		.under_way.whole = MAX_SNAPSHOTS,
		.put_off.whole = MAX_PUT_OFF,
	};
	places->end = &places->first;
}

void snapshot_places_release(struct snapshot_places *places)
{
	shares_clear(&places->under_way);
	shares_clear(&places->put_off);
}

int snapshot_places_ask(struct snapshot_places *places, struct snapshot_place *place)
{
	if (shares_take_beside_root(&places->under_way, place->owner, 1))
		return 0;
	if (!shares_take_beside_root(&places->put_off, place->owner, 1))
		return -EAGAIN;
	place->next = NULL;
	*places->end = place;
	places->end = &place->next;
	return -EINPROGRESS;
}

void snapshot_places_leave(struct snapshot_places *places, const struct snapshot_place *place)
{
	shares_give(&places->under_way, place->owner, 1);
}

static struct snapshot_place *take_out(struct snapshot_places *places, struct snapshot_place **link)
{
	struct snapshot_place *place = *link;

	*link = place->next;
	if (!*link)
		places->end = link;
	shares_give(&places->put_off, place->owner, 1);
	return place;
}

struct snapshot_place *snapshot_places_next(struct snapshot_places *places)
{
	for (struct snapshot_place **link = &places->first; *link; link = &(*link)->next)
		if (shares_take_beside_root(&places->under_way, (*link)->owner, 1))
			return take_out(places, link);
	return NULL;
}

struct snapshot_place *snapshot_places_forget(struct snapshot_places *places)
{
	return places->first ? take_out(places, &places->first) : NULL;
}
