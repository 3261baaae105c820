/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Merges the sources. Each source is asked only for the addresses that the sources before it do not
 * cover. DWARF calls back with its results in the order of the addresses, so no results have to be
 * stored: at each call, the frames of the addresses before are first reported from the other
 * sources.
 */
#include "cfi/function_bounds.h"
#include "names/named_file_private.h"

#include <errno.h>

/* A subset of the addresses, and their indices. */
struct some {
	uint64_t *addresses;
	size_t *indices;
	size_t count;
};

static void some_release(struct some *some)
{
	free(some->addresses);
	free(some->indices);
}

struct search {
	struct named_file *file;
	const struct symtab *symbols;
	const uint64_t *addresses;
	size_t count, next; /* next: the first address that was not reported yet */
	source_frame_fn *fn;
	void *ctx;
	struct some nameless;  /* covered neither by a symbol with a size nor by Go's table */
	struct bounds *bounds; /* for each of `nameless` */
	struct some not_go;
};

static bool in_go(const struct search *search, uint64_t address)
{
	struct go_frame frames[MAX_GO_FRAMES];

	return search->file->go && gopclntab_find(search->file->go, address, frames) > 0;
}

static bool without_name(const struct search *search, uint64_t address)
{
	struct symbol symbol;

	return !(symtab_find(search->symbols, address, &symbol) && symbol.sized) &&
	       !in_go(search, address);
}

static bool without_go(const struct search *search, uint64_t address)
{
	return !in_go(search, address);
}

typedef bool choose_fn(const struct search *search, uint64_t address);

static int choose(const struct search *search, choose_fn *wanted, struct some *some)
{
	some->addresses = calloc(search->count, sizeof(*some->addresses));
	some->indices = calloc(search->count, sizeof(*some->indices));
	if (!some->addresses || !some->indices)
		return -ENOMEM;
	for (size_t i = 0; i < search->count; i++) {
		if (!wanted(search, search->addresses[i]))
			continue;
		some->addresses[some->count] = search->addresses[i];
		some->indices[some->count++] = i;
	}
	return 0;
}

/* The search is linear in the size of the section, so it is done once for all addresses. */
static int find_bounds(struct search *search)
{
	int err = choose(search, without_name, &search->nameless);

	if (err < 0 || !search->nameless.count)
		return err;
	search->bounds = calloc(search->nameless.count, sizeof(*search->bounds));
	if (!search->bounds)
		return -ENOMEM;
	return function_bounds(search->file->elf, search->nameless.addresses,
	                       search->nameless.count, search->bounds);
}

static int by_address(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Both bounds are 0 when they are not known, or not needed because a symbol covers the address. */
static struct bounds bounds_at(const struct search *search, uint64_t address)
{
	const struct some *some = &search->nameless;
	const uint64_t *found = some->count ? bsearch(&address, some->addresses, some->count,
	                                              sizeof(address), by_address)
	                                    : NULL;

	return found ? search->bounds[found - some->addresses] : (struct bounds){0, 0};
}

/* Finds the function at an address from symbols or bounds; false when neither covers it. */
static bool find_function(const struct search *search, uint64_t address, const char **ret_name,
                          uint64_t *ret_start)
{
	struct bounds bounds = bounds_at(search, address);
	struct symbol symbol;

	/* A symbol without size extends to the next symbol, beyond functions without symbols. */
	if (symtab_find(search->symbols, address, &symbol) &&
	    (symbol.sized || bounds.start <= symbol.address)) {
		*ret_name = symbol.name;
		*ret_start = symbol.address;
		return true;
	}
	*ret_name = NULL;
	*ret_start = bounds.start;
	return bounds.end > 0;
}

static int tell_go(const struct search *search, size_t index, size_t *ret_count)
{
	struct go_frame frames[MAX_GO_FRAMES];
	size_t count = gopclntab_find(search->file->go, search->addresses[index], frames);
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		struct source_frame frame = {
			.function = frames[i].function,
			.file = frames[i].file,
			.line = frames[i].line,
			.start_line = frames[i].start_line,
			.function_address = frames[i].function_address,
		};
		err = search->fn(index, &frame, search->ctx);
	}
	*ret_count = count;
	return err;
}

static int tell_without_dwarf(const struct search *search, size_t index)
{
	struct source_frame frame = {0};
	size_t told = 0;
	int err = search->file->go ? tell_go(search, index, &told) : 0;

	if (err || told ||
	    !find_function(search, search->addresses[index], &frame.function,
	                   &frame.function_address))
		return err;
	return search->fn(index, &frame, search->ctx);
}

static int tell_until(struct search *search, size_t index)
{
	int err = 0;

	for (; search->next < index && !err; search->next++)
		err = tell_without_dwarf(search, search->next);
	return err;
}

static bool is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

/* DWARF has the name in the source: for a part that the compiler moved elsewhere, foo.cold, that is
 * foo. For C++, however, the name may lack its class, which the symbol has. */
static void complete(const struct search *search, uint64_t address, struct source_frame *frame)
{
	const char *name;
	uint64_t start;

	if (!find_function(search, address, &name, &start))
		return;
	if (!frame->function || (name && is_mangled(name) && !is_mangled(frame->function)))
		frame->function = name;
	if (!frame->function_address)
		frame->function_address = start;
}

static int take_dwarf(size_t chosen, const struct source_frame *frame, void *ctx)
{
	struct search *search = ctx;
	size_t index = search->not_go.indices[chosen];
	struct source_frame whole = *frame;
	bool first = search->next <= index;
	int err = tell_until(search, index);

	if (err)
		return err;
	search->next = index + 1;
	/* The function that contains the code, or a row of the line table without a function. */
	if (frame->function_address || (first && !frame->function))
		complete(search, search->addresses[index], &whole);
	return search->fn(index, &whole, search->ctx);
}

static int run(struct search *search, bool lines)
{
	int err = find_bounds(search);

	/* Addresses in Go's table are not looked up in DWARF; Go's table covers all code of Go
	 * programs. */
	if (err == 0 && lines)
		err = choose(search, without_go, &search->not_go);
	if (err == 0 && search->not_go.count) {
		err = named_file_read_lines(search->file);
		if (err == 0 && search->file->dwarf)
			err = dwarf_lines_find(search->file->dwarf, search->not_go.addresses,
			                       search->not_go.count, take_dwarf, search);
	}
	return err ? err : tell_until(search, search->count);
}

int named_search(const struct named_search *asked, source_frame_fn *fn, void *ctx)
{
	struct search search = {
		.file = asked->file,
		.symbols = asked->symbols,
		.addresses = asked->addresses,
		.count = asked->count,
		.fn = fn,
		.ctx = ctx,
	};
	int err = run(&search, asked->lines);

	some_release(&search.nameless);
	some_release(&search.not_go);
	free(search.bounds);
	return err;
}
