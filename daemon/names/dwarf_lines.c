/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A look-up sorts the addresses by the unit that they belong to, finds scopes and rows unit by
 * unit, and combines both in the order of the addresses.
 */
#include "names/dwarf_lines.h"
#include "base/bounds.h"
#include "names/dwarf_file.h"
#include "names/dwarf_rows.h"
#include "names/dwarf_scopes.h"
#include "names/dwarf_units.h"
#include "names/interned.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	/* Bytes that libdw keeps for a unit once it was opened: per row of its line table, and for
	 * its abbreviations and files. */
	ROW_BYTES = 80,
	OPEN_UNIT_BYTES = 1024,
	/* libdw frees nothing until its handle is ended. That is done between two units when libdw
	 * keeps more than this: the line tables of a browser would take 4 GB. */
	KEEP_BYTES = 128 << 20,
};

struct dwarf_lines {
	struct dwarf_file file, supplement;
	struct dwarf_units units;
	bool *opened; /* for each unit: libdw has opened it */
	size_t memory;
	size_t kept; /* bytes that libdw keeps for opened units */
	size_t keep; /* the limit of `kept` between two units */
};

/* The results for one address. */
struct place {
	uint32_t scope; /* NO_SCOPE: none */
	uint32_t line;
	const char *file;
	bool row; /* a row covers the address; its file and line may still be unknown */
};

/* An address, by its index, and its unit. */
struct turn {
	uint32_t unit, index;
};

struct search {
	struct dwarf_lines *lines;
	const uint64_t *addresses;
	size_t count;
	struct place *places;
	struct turn *turns;
	size_t turn_count;
	struct dwarf_scopes scopes;
	struct interned strings; /* of places and scopes */
	/* For the addresses of one unit, with room for all addresses. */
	uint64_t *unit_addresses;
	uint32_t *unit_scopes;
};

static void search_release(struct search *search)
{
	free(search->places);
	free(search->turns);
	free(search->unit_addresses);
	free(search->unit_scopes);
	dwarf_scopes_release(&search->scopes);
	interned_release(&search->strings);
}

int dwarf_lines_open(int fd, int supplement_fd, struct dwarf_lines **ret_lines)
{
	_cleanup_(dwarf_lines_freep) struct dwarf_lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		return -ENOMEM;
	lines->keep = KEEP_BYTES;
	int err = dwarf_file_open(fd, &lines->file);
	if (err < 0)
		return err;
	/* Without the supplement, DIEs that do not refer to it are still usable. */
	if (supplement_fd >= 0 && dwarf_file_open(supplement_fd, &lines->supplement) == 0)
		dwarf_setalt(lines->file.dwarf, lines->supplement.dwarf);
	err = dwarf_units_read(lines->file.dwarf, lines->file.elf, &lines->units);
	if (err < 0)
		return err;
	if (!lines->units.count)
		return -EBADMSG;
	lines->opened = calloc(lines->units.count, sizeof(*lines->opened));
	if (!lines->opened)
		return -ENOMEM;
	lines->memory =
		sizeof(*lines) + lines->file.memory + lines->supplement.memory +
		lines->units.count * (sizeof(*lines->units.offsets) + sizeof(*lines->opened)) +
		lines->units.range_capacity * sizeof(*lines->units.ranges);
	*ret_lines = TAKE_PTR(lines);
	return 0;
}

void dwarf_lines_free(struct dwarf_lines *lines)
{
	if (!lines)
		return;
	dwarf_units_release(&lines->units);
	dwarf_file_close(&lines->file);
	dwarf_file_close(&lines->supplement);
	free(lines->opened);
	free(lines);
}

void dwarf_lines_keep(struct dwarf_lines *lines, size_t bytes)
{
	lines->keep = bytes;
}

size_t dwarf_lines_memory(const struct dwarf_lines *lines)
{
	return lines->memory + lines->kept;
}

void dwarf_lines_forget(struct dwarf_lines *lines)
{
	if (!lines->file.dwarf)
		return;
	dwarf_file_forget(&lines->file);
	dwarf_file_forget(&lines->supplement);
	memset(lines->opened, 0, lines->units.count * sizeof(*lines->opened));
	lines->kept = 0;
}

/* Called before a unit is opened: ends the handle when too much is kept, and makes a new one. */
static int forget_too_much(struct search *search)
{
	struct dwarf_lines *lines = search->lines;

	if (lines->kept >= lines->keep) {
		interned_forget_last(&search->strings);
		dwarf_lines_forget(lines);
	}
	if (lines->file.dwarf)
		return 0;
	int err = dwarf_file_reopen(&lines->file);
	if (err == 0 && lines->supplement.elf && dwarf_file_reopen(&lines->supplement) == 0)
		dwarf_setalt(lines->file.dwarf, lines->supplement.dwarf);
	return err;
}

static int by_unit(const void *left, const void *right)
{
	const struct turn *a = left, *b = right;

	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static int search_begin(struct search *search)
{
	size_t count = search->count;

	search->places = calloc(count, sizeof(*search->places));
	search->turns = calloc(count, sizeof(*search->turns));
	search->unit_addresses = calloc(count, sizeof(*search->unit_addresses));
	search->unit_scopes = calloc(count, sizeof(*search->unit_scopes));
	if (!search->places || !search->turns || !search->unit_addresses || !search->unit_scopes)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		uint32_t unit;
		search->places[i].scope = NO_SCOPE;
		if (dwarf_units_find(&search->lines->units, search->addresses[i], &unit))
			search->turns[search->turn_count++] = (struct turn){unit, (uint32_t)i};
	}
	qsort(search->turns, search->turn_count, sizeof(*search->turns), by_unit);
	return 0;
}

/* The DIEs of a split unit are in its .dwo file. Without that file, the skeleton still has the line
 * table. */
static bool open_unit(const struct dwarf_lines *lines, uint32_t unit, Dwarf_Die *ret_skeleton,
                      Dwarf_Die *ret_die)
{
	uint8_t type = 0;

	if (!dwarf_offdie(lines->file.dwarf, lines->units.offsets[unit], ret_skeleton))
		return false;
	*ret_die = (Dwarf_Die){0};
	if (dwarf_cu_info(ret_skeleton->cu, NULL, &type, NULL, ret_die, NULL, NULL, NULL) != 0 ||
	    type != DW_UT_skeleton || !ret_die->cu)
		*ret_die = *ret_skeleton;
	return true;
}

/* The folder in which the unit was compiled; NULL when the unit does not have it. */
static const char *unit_folder(Dwarf_Die *skeleton)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr(skeleton, DW_AT_comp_dir, &attribute));
}

/* With DWARF 5, libdw may return paths relative to that folder; they are made absolute. */
static int keep_path(struct interned *strings, const char *folder, const char **path)
{
	char joined[MAX_PATH_BYTES];

	if (!folder || !*path || **path == '/')
		return interned_add(strings, *path, path);
	int len = snprintf(joined, sizeof(joined), "%s/%s", folder, *path);
	int err = interned_add(strings, len < (int)sizeof(joined) ? joined : *path, path);
	interned_forget_last(strings);
	return err;
}

static int keep_strings(struct search *search, size_t first_scope, const char *folder,
                        const struct turn *turns, size_t count)
{
	struct interned *strings = &search->strings;
	int err = 0;

	for (size_t i = first_scope; i < search->scopes.count && err == 0; i++) {
		struct dwarf_scope *scope = &search->scopes.items[i];
		err = interned_add(strings, scope->name, &scope->name);
		if (err == 0)
			err = keep_path(strings, folder, &scope->call_file);
	}
	for (size_t i = 0; i < count && err == 0; i++) {
		struct place *place = &search->places[turns[i].index];
		err = keep_path(strings, folder, &place->file);
	}
	return err;
}

static int find_in_unit(struct search *search, const struct turn *turns, size_t count)
{
	struct dwarf_lines *lines = search->lines;
	size_t first_scope = search->scopes.count;
	uint32_t unit = turns->unit;
	Dwarf_Die skeleton, die;

	if (!open_unit(lines, unit, &skeleton, &die))
		return 0;
	for (size_t i = 0; i < count; i++)
		search->unit_addresses[i] = search->addresses[turns[i].index];
	int err = dwarf_scopes_find(&search->scopes, &die, search->unit_addresses, count,
	                            search->unit_scopes);
	if (err < 0)
		return err;
	struct dwarf_rows rows = dwarf_rows_load(&skeleton);
	for (size_t i = 0; i < count; i++) {
		struct place *place = &search->places[turns[i].index];
		place->scope = search->unit_scopes[i];
		place->row = dwarf_rows_find(&rows, search->unit_addresses[i], &place->file,
		                             &place->line);
	}
	if (!lines->opened[unit])
		lines->kept += OPEN_UNIT_BYTES + rows.count * ROW_BYTES;
	lines->opened[unit] = true;
	return keep_strings(search, first_scope, unit_folder(&skeleton), turns, count);
}

/* Reports the frames of one address. */
static int tell(const struct search *search, size_t index, source_frame_fn *fn, void *ctx)
{
	const struct place *place = &search->places[index];
	const struct dwarf_scope *scopes = search->scopes.items;
	struct source_frame frame = {.file = place->file, .line = place->line};
	size_t depth = 0;
	int result = 0;

	if (place->scope == NO_SCOPE)
		return place->row ? fn(index, &frame, ctx) : 0;
	for (uint32_t at = place->scope; at != NO_SCOPE; at = scopes[at].caller)
		depth++;
	for (uint32_t at = place->scope; at != NO_SCOPE && result == 0; at = scopes[at].caller) {
		frame.function = scopes[at].name;
		frame.start_line = scopes[at].start_line;
		frame.function_address = scopes[at].entry;
		if (depth-- <= MAX_INLINE_DEPTH)
			result = fn(index, &frame, ctx);
		frame.file = scopes[at].call_file;
		frame.line = scopes[at].call_line;
	}
	return result;
}

int dwarf_lines_find(struct dwarf_lines *lines, const uint64_t *addresses, size_t count,
                     source_frame_fn *fn, void *ctx)
{
	_cleanup_(search_release) struct search search = {
		.lines = lines,
		.addresses = addresses,
		.count = count,
	};
	size_t begin = 0, end;

	if (!count)
		return 0;
	int err = search_begin(&search);
	for (; begin < search.turn_count && err == 0; begin = end) {
		const struct turn *turns = &search.turns[begin];
		for (end = begin + 1; end < search.turn_count; end++) {
			if (search.turns[end].unit != turns->unit)
				break;
		}
		err = forget_too_much(&search);
		if (err == 0)
			err = find_in_unit(&search, turns, end - begin);
	}
	for (size_t i = 0; i < count && err == 0; i++)
		err = tell(&search, i, fn, ctx);
	return err;
}
