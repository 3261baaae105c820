/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The innermost scope of an address is the scope with the shortest range that contains it, at any
 * depth in its function: compilers do nest a call outside the ranges of the block around it. The
 * first walk skips types, and functions that contain none of the addresses. Only when that leaves
 * an address without a scope, a second walk goes through everything, to find functions inside
 * functions and classes.
 */
#include "names/dwarf_scopes.h"
#include "names/dwarf_die.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_SCOPES = 2 << 20, /* of one look-up; 96 MiB */
	/* The number of ranges, and of addresses in them, of one walk. DIEs can share ranges, so
	 * the size of the file does not bound that number. */
	MAX_WORK = 1 << 26,
};

enum kind { KIND_OTHER, KIND_FUNCTION, KIND_INLINED };

/* A DIE on the path to the current DIE. */
struct level {
	Dwarf_Die die;
	enum kind kind;
	uint32_t scope; /* NO_SCOPE: not made yet */
	bool inside;    /* in a function that contains some of the addresses */
	uint64_t entry; /* start of the first range */
};

struct finder {
	struct dwarf_scopes *scopes;
	Dwarf_Files *files;
	const uint64_t *addresses;
	size_t count;
	uint32_t *innermost;
	uint64_t *lengths; /* of the ranges of the innermost scopes */
	bool everything;
	uint64_t work;
	size_t depth; /* of the current DIE */
	bool found;   /* the current DIE contains one of the addresses */
	int err;
	struct level levels[MAX_DIE_DEPTH];
};

static int add_scope(struct finder *finder, struct level *level, uint32_t caller)
{
	struct dwarf_scopes *scopes = finder->scopes;
	bool inlined = level->kind == KIND_INLINED;
	Dwarf_Addr entry;

	if (scopes->count == MAX_SCOPES)
		return -E2BIG;
	if (scopes->count == scopes->capacity) {
		size_t capacity = scopes->capacity ? scopes->capacity * 2 : 64;
		struct dwarf_scope *items = reallocarray(scopes->items, capacity, sizeof(*items));
		if (!items)
			return -ENOMEM;
		scopes->items = items;
		scopes->capacity = capacity;
	}
	/* For a function in several pieces, only their order shows where its code begins. */
	if (inlined || dwarf_entrypc(&level->die, &entry) != 0)
		entry = inlined ? 0 : level->entry;
	level->scope = (uint32_t)scopes->count++;
	scopes->items[level->scope] = (struct dwarf_scope){
		.name = die_function_name(&level->die),
		.call_file = inlined ? die_file(&level->die, DW_AT_call_file, finder->files) : NULL,
		.entry = entry,
		.call_line = inlined ? die_number(&level->die, DW_AT_call_line) : 0,
		.start_line = die_number(&level->die, DW_AT_decl_line),
		.caller = caller,
	};
	return 0;
}

/* Makes the scope of the current DIE, after the scopes that it is inlined into. */
static int make_scope(struct finder *finder)
{
	struct level *levels = finder->levels;
	uint32_t caller = NO_SCOPE;
	size_t at = finder->depth;
	int err = 0;

	while (at && levels[at].kind != KIND_FUNCTION)
		at--;
	for (; at <= finder->depth && err == 0; at++) {
		if (levels[at].kind == KIND_OTHER)
			continue;
		if (levels[at].scope == NO_SCOPE)
			err = add_scope(finder, &levels[at], caller);
		caller = levels[at].scope;
	}
	return err;
}

static size_t first_at_or_after(const struct finder *finder, uint64_t address)
{
	size_t low = 0, high = finder->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (finder->addresses[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool match(uint64_t start, uint64_t end, void *ctx)
{
	struct finder *finder = ctx;
	struct level *level = &finder->levels[finder->depth];

	if (!level->entry)
		level->entry = start;
	if (++finder->work > MAX_WORK)
		return false;
	for (size_t i = first_at_or_after(finder, start);
	     i < finder->count && finder->addresses[i] < end; i++) {
		finder->found = true;
		finder->work++;
		if (end - start > finder->lengths[i])
			continue;
		if (level->scope == NO_SCOPE)
			finder->err = make_scope(finder);
		if (finder->err < 0)
			return false;
		finder->lengths[i] = end - start;
		finder->innermost[i] = level->scope;
	}
	return true;
}

static enum die_step look(Dwarf_Die *die, size_t depth, void *ctx)
{
	struct finder *finder = ctx;
	struct level *level = &finder->levels[depth];
	bool inside = depth && level[-1].inside;
	int tag = dwarf_tag(die);

	*level = (struct level){.die = *die, .scope = NO_SCOPE, .inside = inside};
	finder->depth = depth;
	finder->found = false;
	switch (tag) {
	case DW_TAG_subprogram:
		level->kind = KIND_FUNCTION;
		die_ranges(die, match, finder);
		level->inside = finder->found;
		inside = finder->found;
		break;
	case DW_TAG_inlined_subroutine:
		level->kind = KIND_INLINED;
		die_ranges(die, match, finder);
		break;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
		break;
	case DW_TAG_namespace:
	case DW_TAG_module:
		inside = true;
		break;
	default:
		inside = false;
		break;
	}
	if (finder->err < 0 || finder->work > MAX_WORK)
		return DIE_STOP;
	return inside || finder->everything ? DIE_CHILDREN : DIE_NEXT;
}

static bool one_missing(const struct finder *finder)
{
	for (size_t i = 0; i < finder->count; i++) {
		if (finder->innermost[i] == NO_SCOPE)
			return true;
	}
	return false;
}

static void walk(struct finder *finder, Dwarf_Die *unit)
{
	for (size_t i = 0; i < finder->count; i++) {
		finder->innermost[i] = NO_SCOPE;
		finder->lengths[i] = UINT64_MAX;
	}
	finder->work = 0;
	die_walk(unit, look, finder);
}

int dwarf_scopes_find(struct dwarf_scopes *scopes, Dwarf_Die *unit, const uint64_t *addresses,
                      size_t count, uint32_t *innermost)
{
	size_t before = scopes->count, files;
	_cleanup_free_ struct finder *finder = calloc(1, sizeof(*finder));
	_cleanup_free_ uint64_t *lengths = calloc(count, sizeof(*lengths));

	if (!finder || !lengths)
		return -ENOMEM;
	finder->scopes = scopes;
	finder->addresses = addresses;
	finder->count = count;
	finder->innermost = innermost;
	finder->lengths = lengths;
	if (dwarf_getsrcfiles(unit, &finder->files, &files) != 0)
		finder->files = NULL;
	walk(finder, unit);
	if (finder->err == 0 && one_missing(finder)) {
		scopes->count = before;
		finder->everything = true;
		walk(finder, unit);
	}
	/* Scopes that were found before the limit was reached are valid. */
	return finder->err == -E2BIG ? 0 : finder->err;
}

void dwarf_scopes_release(struct dwarf_scopes *scopes)
{
	free(scopes->items);
	*scopes = (struct dwarf_scopes){0};
}
