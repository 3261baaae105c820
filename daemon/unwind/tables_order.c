/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Decides which table is built next, and which table is evicted. Tables that walks have missed come
 * first, the most missed one before all others. Among equals the smaller one comes first, so that
 * one large file does not keep many small ones waiting. A table that no walk has missed is built
 * only while there is room and nothing else to do, and only if its file is small: so the first
 * walks through a new program find most of what it maps, and large files cost only what is used of
 * them. Where walks have missed several pieces of a file, the others are built as soon as there is
 * nothing else to do: execution moves from one piece to the next, and each missing one would
 * truncate a stack.
 *
 * Files of users for whom builders worked long lately come after the files of all others, however
 * much they are missed.
 *
 * When room runs out, a missed table takes the place of tables that were not used for a while.
 * There is at most one such exchange a second, so that more code in use than fits does not cause
 * endless building.
 */
#include "unwind/tables_private.h"

#include "base/bounds.h"

enum {
	SMALL_PIECES = 4, /* as many as a C library has */
	HOT_PIECES = 3,
	MAX_HOT_PIECES = 256, /* of a larger file, not all pieces are worth their memory */
};

static bool is_small(const struct piece *piece)
{
	return piece->executable->pieces.count <= SMALL_PIECES;
}

static bool is_hot(const struct piece *piece)
{
	return piece->executable->missed >= HOT_PIECES &&
	       piece->executable->pieces.count <= MAX_HOT_PIECES;
}

bool tables_have_plenty(const struct tables *tables)
{
	return chunks_free_words(tables->chunks) > chunks_all_words(tables->chunks) / 2;
}

bool tables_may_be_ahead(const struct piece *piece, bool plenty)
{
	return is_small(piece) || (plenty && is_hot(piece));
}

static bool is_evictable(const struct tables *tables, uint32_t id)
{
	const struct piece *item = &tables->items[id];

	/* A table that was used in the last second or so is as valuable as the wanted one. */
	return item->executable && item->state == PIECE_READY &&
	       (!piece_is_mapped(item) || tables_used(tables, id) + 1 < tables->epoch);
}

/* A table that no process maps, else the least recently used one. */
uint32_t tables_victim(const struct tables *tables)
{
	uint32_t victim = 0;

	for (uint32_t id = 1; id < tables->seen; id++) {
		bool mapped = piece_is_mapped(&tables->items[id]), victim_mapped;

		if (!is_evictable(tables, id))
			continue;
		victim_mapped = victim && piece_is_mapped(&tables->items[victim]);
		if (!victim || mapped < victim_mapped ||
		    (mapped == victim_mapped &&
		     tables_used(tables, id) < tables_used(tables, victim)))
			victim = id;
	}
	return victim;
}

size_t tables_possible_words(const struct tables *tables)
{
	size_t in[MAX_UNWIND_CHUNKS], most = 0;

	for (uint32_t i = 0; i < MAX_UNWIND_CHUNKS; i++)
		in[i] = chunks_free_in(tables->chunks, i);
	for (uint32_t id = 1; id < tables->seen; id++) {
		const struct piece *item = &tables->items[id];

		if (item->state == PIECE_RETIRING || is_evictable(tables, id))
			in[item->base >> CHUNK_BITS] += item->words;
	}
	for (uint32_t i = 0; i < MAX_UNWIND_CHUNKS; i++)
		most = in[i] > most ? in[i] : most;
	return most;
}

static uint64_t used_by(const struct tables *tables, const struct piece *item)
{
	return turns_used(&tables->turns, LANE_USER(item->executable->user));
}

static bool is_before(const struct tables *tables, const struct piece *a, const struct piece *b)
{
	uint64_t a_used = used_by(tables, a), b_used = used_by(tables, b);

	if (a_used != b_used)
		return a_used < b_used;
	if (a->wanted != b->wanted)
		return a->wanted > b->wanted;
	return a->estimate < b->estimate;
}

/* The room at the time of a choice: words in the chunk that has the most. */
struct room {
	size_t free, possible;
	bool exchange; /* a table may be evicted */
	bool plenty;
};

static bool may_have_room(const struct tables *tables, const struct piece *item,
                          const struct room *room)
{
	if (item->refused != tables->gives && item->estimate <= room->free)
		return true;
	return item->wanted && room->exchange &&
	       (!item->measured || item->estimate <= room->possible);
}

static bool is_due(const struct tables *tables, const struct piece *item, const struct room *room)
{
	if (!piece_is_mapped(item) || item->in_work)
		return false;
	if (item->again)
		return true;
	return item->state == PIECE_WAITING && item->retry_epoch <= tables->epoch &&
	       (item->wanted || (tables->ahead && is_small(item)) ||
	        (room->plenty && is_hot(item))) &&
	       may_have_room(tables, item, room);
}

uint32_t tables_pick(const struct tables *tables, bool follow)
{
	struct room room = {
		.free = chunks_room(tables->chunks),
		.exchange = tables->evict_epoch < tables->epoch,
		.plenty = tables_have_plenty(tables),
	};
	uint32_t best = 0;

	room.possible = room.free;
	/* Mostly there is room for any table. */
	if (room.exchange && room.free < CHUNK_ROOM)
		room.possible = tables_possible_words(tables);
	for (uint32_t id = 1; id < tables->seen; id++) {
		const struct piece *item = &tables->items[id];

		if ((item->followed || item->late) == follow && is_due(tables, item, &room) &&
		    (!best || is_before(tables, item, &tables->items[best])))
			best = id;
	}
	return best;
}
