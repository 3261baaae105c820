/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Finds the functions and decides in which order they are followed. Certain functions come first,
 * and all of them are found before the first is followed, so that each ends where the next begins.
 * Guesses come after them: places that something merely points at. Where two functions would
 * describe the same bytes, the first one does.
 */
#include "follow/follow.h"

#include "follow/follow_code.h"
#include "follow/follow_entries.h"
#include "follow/follow_gaps.h"
#include "follow/follow_marks.h"
#include "follow/follow_signal.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

enum {
	MAX_ROUNDS = 16, /* each round follows what the round before led to */
};

struct search {
	struct gaps gaps;
	struct follower *follower;
	struct marks *told;              /* bytes that a reported row covers */
	struct entries certain, guesses; /* the certain ones are sorted before they are followed */
	frame_row_fn *fn;
	void *ctx;
};

int follow_function(const uint8_t *code, size_t len, uint64_t address, frame_row_fn *fn, void *ctx)
{
	_cleanup_(follower_freep) struct follower *follower = follower_new();

	if (!follower)
		return -ENOMEM;
	int err = follower_explore(follower, code, len, address, FOLLOW_CALLED);
	if (err)
		return err;
	if (!follower_solve(follower, FOLLOW_CALLED))
		return 0;
	return follower_each_row(follower, fn, ctx);
}

static void search_end(struct search *search)
{
	gaps_end(&search->gaps);
	follower_free(search->follower);
	marks_free(search->told);
	marks_free(search->certain.known);
	marks_free(search->guesses.known);
	free(search->certain.items);
	free(search->guesses.items);
}

/* ---- entries ----------------------------------------------------------------------------- */

static int add(struct search *search, struct entries *entries, const struct entry *entry)
{
	struct range gap;

	return gaps_find(&search->gaps, entry->address, &gap) ? entries_add(entries, entry) : 0;
}

/* A part that a compiler moved out of a function has a symbol, but is no function. */
static int add_symbol(const char *name, uint64_t address, uint64_t size, bool global, void *ctx)
{
	struct search *search = ctx;
	struct entry entry = {.address = address, .end = UINT64_MAX, .how = FOLLOW_CALLED};

	(void)global;
	if (strstr(name, ".cold"))
		return 0;
	if (size && __builtin_add_overflow(address, size, &entry.end))
		return 0;
	return add(search, &search->certain, &entry);
}

static int add_guess(uint64_t address, void *ctx)
{
	struct search *search = ctx;
	struct entry entry = {.address = address, .end = UINT64_MAX, .how = FOLLOW_GUESSED};

	return add(search, &search->guesses, &entry);
}

static int add_call(uint64_t address, enum follow_reference how, void *ctx)
{
	struct search *search = ctx;
	struct entry entry = {.address = address, .end = UINT64_MAX, .how = FOLLOW_CALLED};

	return how == REFERENCE_CALL ? add(search, &search->certain, &entry) : 0;
}

static int add_reference(uint64_t address, enum follow_reference how, void *ctx)
{
	return how == REFERENCE_CALL ? add_call(address, how, ctx) : add_guess(address, ctx);
}

/* ---- functions --------------------------------------------------------------------------- */

/* Reports a row without the bytes that another row already covers. */
static int tell(const struct frame_row *row, void *ctx)
{
	struct search *search = ctx;
	struct frame_row piece = *row;
	int result = 0;

	for (uint64_t at = row->start; !result && at < row->end; at = piece.end) {
		for (piece.start = at; piece.start < row->end; piece.start++) {
			if (!marks_test(search->told, piece.start))
				break;
		}
		for (piece.end = piece.start; piece.end < row->end; piece.end++) {
			if (marks_test(search->told, piece.end))
				break;
			int err = marks_set(search->told, piece.end);
			if (err)
				return err == -E2BIG ? 0 : err;
		}
		if (piece.start < piece.end)
			result = search->fn(&piece, search->ctx);
	}
	return result;
}

static int explore(struct search *search, const struct entry *entry, uint64_t bound)
{
	struct range gap;
	uint64_t end = entry->end < bound ? entry->end : bound;
	size_t len = 0;
	const uint8_t *code = NULL;

	if (gaps_find(&search->gaps, entry->address, &gap)) {
		end = gap.end < end ? gap.end : end;
		if (end - entry->address > MAX_FOLLOW_BYTES)
			end = entry->address + MAX_FOLLOW_BYTES;
		code = gaps_read(&search->gaps, entry->address, end, &len);
	}
	return follower_explore(search->follower, code, code ? len : 0, entry->address, entry->how);
}

static int follow(struct search *search, const struct entry *entry, uint64_t bound)
{
	if (marks_test(search->told, entry->address))
		return 0;
	int result = explore(search, entry, bound);
	if (result || !follower_solve(search->follower, entry->how))
		return result;
	result = follower_each_row(search->follower, tell, search);
	if (result)
		return result;
	return follower_each_reference(search->follower, add_reference, search);
}

/* Functions that a certain function calls are certain. */
static int find_called(struct search *search)
{
	struct entries *certain = &search->certain;
	int result = 0;

	for (size_t i = 0; !result && i < certain->count; i++) {
		struct entry entry = certain->items[i];

		if (entry.explored)
			continue;
		certain->items[i].explored = true;
		result = explore(search, &entry, UINT64_MAX);
		if (!result)
			result = follower_each_reference(search->follower, add_call, search);
	}
	entries_sort(certain);
	return result;
}

static int follow_certain(struct search *search)
{
	struct entries *certain = &search->certain;
	size_t count = certain->count;
	int result = 0;

	for (size_t i = 0; !result && i < count; i++) {
		struct entry entry = certain->items[i];

		if (entry.followed)
			continue;
		certain->items[i].followed = true;
		result = follow(search, &entry,
		                i + 1 < count ? certain->items[i + 1].address : UINT64_MAX);
	}
	return result;
}

static int follow_guesses(struct search *search)
{
	struct entries *guesses = &search->guesses;
	struct entries sorted = {.count = search->certain.count};
	int result = 0;

	entries_sort(guesses);

	for (size_t i = 0; !result && i < guesses->count; i++) {
		struct entry entry = guesses->items[i];

		if (entry.followed)
			continue;
		guesses->items[i].followed = true;
		/* Functions that a guess leads to are appended behind the sorted ones. */
		sorted.items = search->certain.items;
		result = follow(search, &entry, entries_next(&sorted, entry.address));
	}
	return result;
}

static int follow_all(struct search *search)
{
	int result = follow_signal_restorers(&search->gaps, tell, search);

	for (int round = 0; !result && round < MAX_ROUNDS; round++) {
		result = find_called(search);
		size_t known = search->certain.count;
		if (!result)
			result = follow_certain(search);
		/* If jumps led to more certain functions, these are followed before any guess. */
		if (!result && search->certain.count == known) {
			result = follow_guesses(search);
			if (search->certain.count == known)
				break;
		}
	}
	return result;
}

/* ---- files ------------------------------------------------------------------------------- */

static int collect(struct search *search)
{
	struct entry start = {
		.address = elf_entry(search->gaps.elf),
		.end = UINT64_MAX,
		.how = FOLLOW_OUTERMOST,
	};
	int result = start.address ? add(search, &search->certain, &start) : 0;

	if (!result)
		result = elf_each_symbol(search->gaps.elf, add_symbol, search);
	/* The search goes on if symbols or relocations cannot be read. */
	if (result == -ENOMEM)
		return result;
	result = elf_each_relative(search->gaps.elf, add_guess, search);
	return result == -ENOMEM ? result : 0;
}

int follow_gaps(const struct elf *elf, const struct range *described, size_t count,
                frame_row_fn *fn, void *ctx)
{
	_cleanup_(search_end) struct search search = {.fn = fn, .ctx = ctx};

	if (elf_machine(elf) != EM_X86_64)
		return 0;
	search.follower = follower_new();
	search.told = marks_new();
	search.certain.known = marks_new();
	search.guesses.known = marks_new();
	if (!search.follower || !search.told || !search.certain.known || !search.guesses.known)
		return -ENOMEM;
	int result = gaps_init(&search.gaps, elf, described, count);
	if (!result)
		result = collect(&search);
	if (!result)
		result = follow_all(&search);
	return result;
}
