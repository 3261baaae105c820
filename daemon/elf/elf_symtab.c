/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A symbol matters to an address that it covers by its size. Among symbols without a size, the last
 * one at or before the address may cover it; the first symbol of any kind behind the address ends
 * that symbol. The first walk finds where these two begin, the second walk takes them. Functions
 * and stubs matter to addresses of code, variables to all others.
 */
#include "elf/elf_symtab.h"

#include <errno.h>
#include <stdlib.h>

struct place {
	uint64_t address;
	uint64_t before; /* start of the last symbol at or before it; 0: maybe none */
	uint64_t behind; /* start of the first symbol behind it; UINT64_MAX: maybe none */
	bool in_data;
};

struct search {
	struct place *places;
	size_t count;
	struct symtab *symtab;
	bool has_code, has_data; /* of the places */
	bool takes_variables;    /* the walk is at these */
};

/* Index of the first place that is not below the address. */
static size_t place_from(const struct search *search, uint64_t address)
{
	size_t low = 0, high = search->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (search->places[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Updates only the two places next to the symbol; spread_neighbours() passes the result on to the
 * others. */
static int note_neighbour(const char *name, uint64_t address, uint64_t size, bool global, void *ctx)
{
	struct search *search = ctx;
	size_t next = place_from(search, address);
	struct place *place = &search->places[next];

	(void)name, (void)size, (void)global;
	if (next < search->count && place->in_data == search->takes_variables &&
	    place->before < address)
		place->before = address;
	if (next && place[-1].in_data == search->takes_variables && place[-1].behind > address)
		place[-1].behind = address;
	return 0;
}

static void spread_neighbours(struct search *search)
{
	struct place *places = search->places;

	for (size_t i = 1; i < search->count; i++) {
		if (places[i].in_data == places[i - 1].in_data &&
		    places[i].before < places[i - 1].before)
			places[i].before = places[i - 1].before;
	}
	for (size_t i = search->count; i-- > 1;) {
		if (places[i].in_data == places[i - 1].in_data &&
		    places[i - 1].behind > places[i].behind)
			places[i - 1].behind = places[i].behind;
	}
}

static int take_symbol(const char *name, uint64_t address, uint64_t size, bool global, void *ctx)
{
	const struct search *search = ctx;
	size_t next = place_from(search, address);
	const struct place *place = &search->places[next];
	bool matters = (next && place[-1].behind == address) ||
	               (next < search->count &&
	                (place->before == address || place->address - address < size));

	return matters ? symtab_add(search->symtab, name, address, size, global, NULL) : 0;
}

/* If the stubs of a file cannot be read, its symbols are kept, because those matter most. Broken
 * parts of a file count as missing. Only a lack of memory is an error, because it may be
 * temporary. */
static int each_symbol(const struct elf *const *files, size_t count, elf_symbol_fn *fn,
                       struct search *search)
{
	int err = 0;

	search->takes_variables = false;
	for (size_t i = 0; search->has_code && i < count && err != -ENOMEM; i++) {
		err = files[i] ? elf_each_symbol(files[i], fn, search) : -ENOENT;
		if (err == 0)
			err = elf_each_stub(files[i], fn, search);
	}
	search->takes_variables = true;
	for (size_t i = 0; search->has_data && i < count && err != -ENOMEM; i++)
		err = files[i] ? elf_each_variable(files[i], fn, search) : -ENOENT;
	return err == -ENOMEM ? err : 0;
}

/* Whether the address is in a segment of the file, and in none that has code. */
static bool is_data(const struct elf *elf, uint64_t address)
{
	size_t count = 0;
	const struct segment *segments = elf ? elf_segments(elf, &count) : NULL;
	bool holds = false;

	for (size_t i = 0; i < count; i++) {
		if (address - segments[i].address >= segments[i].memory_bytes)
			continue;
		if (segments[i].executable)
			return false;
		holds = true;
	}
	return holds;
}

int elf_symtab_at(const struct elf *const *files, size_t file_count, const uint64_t *addresses,
                  size_t count, struct symtab **ret_symtab)
{
	_cleanup_(symtab_freep) struct symtab *symtab = symtab_new();
	_cleanup_free_ struct place *places = calloc(count + 1, sizeof(*places));
	struct search search = {.places = places, .count = count, .symtab = symtab};

	if (!symtab || !places)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		bool in_data = file_count && is_data(files[0], addresses[i]);

		places[i] = (struct place){addresses[i], 0, UINT64_MAX, in_data};
		search.has_data |= in_data;
		search.has_code |= !in_data;
	}
	int err = each_symbol(files, file_count, note_neighbour, &search);
	spread_neighbours(&search);
	if (err == 0)
		err = each_symbol(files, file_count, take_symbol, &search);
	if (err == 0)
		err = symtab_seal(symtab);
	if (err == 0)
		*ret_symtab = TAKE_PTR(symtab);
	return err;
}
