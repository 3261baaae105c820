/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A symbol matters to an address that it covers by its size. Among symbols without a size, the last
 * one at or before the address may cover it; the first symbol of any kind behind the address ends
 * that symbol. The first walk finds where these two begin, the second walk takes them.
 */
#include "elf/elf_symtab.h"

#include <errno.h>
#include <stdlib.h>

struct place {
	uint64_t address;
	uint64_t before; /* start of the last symbol at or before it; 0: maybe none */
	uint64_t behind; /* start of the first symbol behind it; UINT64_MAX: maybe none */
};

struct search {
	struct place *places;
	size_t count;
	struct symtab *symtab;
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

	(void)name, (void)size, (void)global;
	if (next < search->count && search->places[next].before < address)
		search->places[next].before = address;
	if (next && search->places[next - 1].behind > address)
		search->places[next - 1].behind = address;
	return 0;
}

static void spread_neighbours(struct search *search)
{
	struct place *places = search->places;

	for (size_t i = 1; i < search->count; i++) {
		if (places[i].before < places[i - 1].before)
			places[i].before = places[i - 1].before;
	}
	for (size_t i = search->count; i-- > 1;) {
		if (places[i - 1].behind > places[i].behind)
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
static int each_symbol(const struct elf *const *files, size_t count, elf_symbol_fn *fn, void *ctx)
{
	int err = 0;

	for (size_t i = 0; i < count && err != -ENOMEM; i++) {
		err = files[i] ? elf_each_symbol(files[i], fn, ctx) : -ENOENT;
		if (err == 0)
			err = elf_each_stub(files[i], fn, ctx);
	}
	return err == -ENOMEM ? err : 0;
}

int elf_symtab_at(const struct elf *const *files, size_t file_count, const uint64_t *addresses,
                  size_t count, struct symtab **ret_symtab)
{
	_cleanup_(symtab_freep) struct symtab *symtab = symtab_new();
	_cleanup_free_ struct place *places = calloc(count + 1, sizeof(*places));
	struct search search = {.places = places, .count = count, .symtab = symtab};

	if (!symtab || !places)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		places[i] = (struct place){.address = addresses[i], .behind = UINT64_MAX};
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
