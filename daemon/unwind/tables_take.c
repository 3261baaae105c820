/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Executables and the numbers of their descriptors, one for each piece. An executable that no
 * mapping refers to any more keeps its numbers until others need them. The user that maps an
 * executable is charged for its numbers; an executable that no process maps is charged to no user.
 */
#include "unwind/tables_private.h"

#include <string.h>

enum {
	/* An estimate until a table has been built: 20 rows per KiB of text, and the index. */
	TEXT_BYTES_A_WORD = 32,
	SPARE_SHARE = 4,  /* part of all numbers that is left for files of one piece */
	KEPT_EPOCHS = 30, /* without mappings; the next process often comes soon */
	ROUNDS = 16,      /* each looks at all executables */
};

/* Whether nothing maps the executable, no table of it is being built, and none is retiring while a
 * slow walker may read it. */
static bool is_at_rest(const struct tables *tables, const struct executable *executable)
{
	for (uint32_t i = 0; i < executable->pieces.count; i++) {
		const struct piece *item = &tables->items[executable->first + i];

		if (item->in_work || item->state == PIECE_RETIRING)
			return false;
	}
	return !executable->references;
}

static void evict_all(struct tables *tables, const struct executable *executable)
{
	for (uint32_t i = 0; i < executable->pieces.count; i++) {
		if (tables->items[executable->first + i].state == PIECE_READY)
			tables_evict(tables, executable->first + i);
	}
}

static void forget(struct tables *tables, struct executable *executable)
{
	evict_all(tables, executable);
	memset(&tables->items[executable->first], 0,
	       executable->pieces.count * sizeof(*tables->items));
	pool_give(tables->numbers, executable->first, executable->pieces.count);
	HASH_DEL(tables->by_object, executable);
	free(executable);
}

/* Gives back the numbers of the executable that has been without mappings for longest. False: there
 * is none. */
static bool recycle(struct tables *tables)
{
	struct executable *oldest = NULL, *executable, *next;

	HASH_ITER (hh, tables->by_object, executable, next) {
		if (is_at_rest(tables, executable) &&
		    (!oldest || executable->unmapped_epoch < oldest->unmapped_epoch))
			oldest = executable;
	}
	if (oldest)
		forget(tables, oldest);
	return oldest;
}

/* Does so for all executables without mappings. */
static void recycle_all(struct tables *tables)
{
	struct executable *executable, *next;

	HASH_ITER (hh, tables->by_object, executable, next) {
		if (is_at_rest(tables, executable))
			forget(tables, executable);
	}
}

static uint32_t try_numbers(struct tables *tables, uint32_t count)
{
	/* Large files leave some numbers for small ones. */
	size_t spare = count > 1 ? tables->count / SPARE_SHARE : 0;

	if (pool_free_elements(tables->numbers) < count + spare)
		return 0;
	return (uint32_t)pool_take(tables->numbers, count);
}

static uint32_t take_numbers(struct tables *tables, uint32_t count)
{
	uint32_t first = try_numbers(tables, count);

	for (int i = 0; !first && i < ROUNDS && recycle(tables); i++)
		first = try_numbers(tables, count);
	/* The numbers of the oldest executables may be far apart. Before the search takes too long,
	 * all executables without mappings give theirs back. */
	if (!first) {
		recycle_all(tables);
		first = try_numbers(tables, count);
	}
	if (first && first + count > tables->seen)
		tables->seen = first + count;
	return first;
}

/* Takes a number for each piece. False: there are not enough, or the user's share is full. */
static bool number(struct tables *tables, struct executable *executable)
{
	uint32_t count = executable->pieces.count;

	/* No tables are evicted for a user whose share is full. */
	if (!shares_take(&tables->shares, executable->user, count))
		return false;
	executable->first = take_numbers(tables, count);
	if (!executable->first)
		shares_give(&tables->shares, executable->user, count);
	return executable->first;
}

static uint32_t estimate(const struct object *object, const struct pieces *pieces)
{
	uint64_t words = object->text.file_bytes / TEXT_BYTES_A_WORD + 1;

	if (pieces->count > 1)
		words = PIECE_BYTES / TEXT_BYTES_A_WORD;
	return words < UINT32_MAX ? (uint32_t)words : UINT32_MAX;
}

static struct executable *add(struct tables *tables, const struct object *object, uint32_t user)
{
	struct executable *executable = calloc(1, sizeof(*executable));

	if (!executable)
		return NULL;
	executable->object = object->id;
	executable->user = user;
	executable->pieces = pieces_of(object->elf);
	if (!number(tables, executable) && executable->pieces.count > 1) {
		executable->pieces = (struct pieces){.count = 1};
		number(tables, executable);
	}
	if (executable->first)
		HASH_ADD(hh, tables->by_object, object, sizeof(executable->object), executable);
	if (!executable->first || !executable->hh.tbl) {
		if (executable->first) {
			pool_give(tables->numbers, executable->first, executable->pieces.count);
			shares_give(&tables->shares, user, executable->pieces.count);
		}
		free(executable);
		return NULL;
	}
	for (uint32_t i = 0; i < executable->pieces.count; i++) {
		tables->items[executable->first + i] = (struct piece){
			.executable = executable,
			.state = PIECE_WAITING,
			.estimate = estimate(object, &executable->pieces),
			.refused = UINT64_MAX,
		};
		memset(tables_descriptor(tables, executable->first + i), 0,
		       sizeof(struct unwind_table));
	}
	return executable;
}

/* Charges the user when an executable without mappings is mapped again. */
static bool pay_again(struct tables *tables, struct executable *executable, uint32_t user)
{
	if (!shares_take(&tables->shares, user, executable->pieces.count))
		return false;
	executable->user = user;
	return true;
}

uint32_t tables_take(struct tables *tables, const struct object *object, uint32_t user)
{
	struct executable *executable;

	HASH_FIND(hh, tables->by_object, &object->id, sizeof(object->id), executable);
	if (!executable)
		executable = add(tables, object, user);
	else if (!executable->references && !pay_again(tables, executable, user))
		return 0;
	if (!executable)
		return 0;
	executable->references++;
	return executable->first;
}

void tables_give(struct tables *tables, uint32_t id)
{
	struct executable *executable = id ? tables->items[id].executable : NULL;

	if (!executable || --executable->references > 0)
		return;
	executable->unmapped_epoch = tables->epoch;
	shares_give(&tables->shares, executable->user, executable->pieces.count);
}

void tables_place(struct tables *tables, struct unwind_mapping *mapping)
{
	uint32_t first = mapping->table;

	pieces_map(&tables->items[first].executable->pieces, mapping);
	if (!mapping->table)
		tables_give(tables, first);
}

void tables_forget_unmapped(struct tables *tables)
{
	struct executable *executable, *next;

	HASH_ITER (hh, tables->by_object, executable, next) {
		if (is_at_rest(tables, executable) &&
		    tables->epoch - executable->unmapped_epoch >= KEPT_EPOCHS)
			forget(tables, executable);
	}
}
