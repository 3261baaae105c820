/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sorted symbols, for files with up to a million of them: one array, one pool of names, no
 * allocation per symbol. Symbols may overlap in any way, so sealing sweeps over them once and
 * records which symbol wins from each address on. A look-up is then one binary search.
 */
#include "base/bounds.h"
#include "base/buf.h"
#include "elf/symtab.h"

#include <errno.h>
#include <string.h>

/* A symbol without a size ends this far behind its start when no other symbol follows; assembly
 * rarely fills a page. */
enum { LAST_REACH = 4096 };

struct entry {
	uint64_t address, end;
	uint32_t name;                               /* offset in the pool */
	uint32_t module : 30, global : 1, sized : 1; /* module: offset in the pool; 0: none */
};

_Static_assert(MAX_SECTION_BYTES <= 1 << 30, "places in the pool fit");

struct symtab {
	struct entry *entries;
	size_t count, capacity;
	struct buf pool; /* begins with an empty string, so offset 0 means "none" */
	uint32_t last_module;
	/* From range_start[i] on, up to the next range or the entry's own end, range_entry[i] wins.
	 * NULL: each entry wins from its start, up to the next entry or its own end. */
	uint64_t *range_start;
	uint32_t *range_entry;
	size_t range_count;
};

struct symtab *symtab_new(void)
{
	struct symtab *symtab = calloc(1, sizeof(*symtab));

	if (!symtab)
		return NULL;
	buf_add_char(&symtab->pool, '\0');
	if (buf_error(&symtab->pool)) {
		symtab_free(symtab);
		return NULL;
	}
	return symtab;
}

void symtab_free(struct symtab *symtab)
{
	if (!symtab)
		return;
	free(symtab->entries);
	free(symtab->range_start);
	free(symtab->range_entry);
	buf_release(&symtab->pool);
	free(symtab);
}

static const char *pool_text(const struct symtab *symtab, uint32_t offset)
{
	return (const char *)symtab->pool.data + offset;
}

static int pool_add(struct symtab *symtab, const char *name, uint32_t *ret_offset)
{
	size_t offset = symtab->pool.len;
	size_t len = strnlen(name, MAX_SYMBOL_NAME_BYTES);

	if (offset + len + 1 > MAX_SECTION_BYTES)
		return -E2BIG;
	buf_add(&symtab->pool, name, len);
	buf_add_char(&symtab->pool, '\0');
	if (buf_error(&symtab->pool))
		return buf_error(&symtab->pool);
	*ret_offset = (uint32_t)offset;
	return 0;
}

static int add_module(struct symtab *symtab, const char *module, uint32_t *ret_offset)
{
	/* The symbols of a module come one after the other. */
	if (!module || !strcmp(pool_text(symtab, symtab->last_module), module)) {
		*ret_offset = module ? symtab->last_module : 0;
		return 0;
	}
	int err = pool_add(symtab, module, ret_offset);
	if (err == 0)
		symtab->last_module = *ret_offset;
	return err;
}

int symtab_add(struct symtab *symtab, const char *name, uint64_t address, uint64_t size,
               bool global, const char *module)
{
	uint32_t name_offset, module_offset;

	if (symtab->count >= MAX_SYMBOLS)
		return -E2BIG;
	if (symtab->count == symtab->capacity) {
		size_t capacity = symtab->capacity ? symtab->capacity * 2 : 64;
		struct entry *entries = realloc(symtab->entries, capacity * sizeof(*entries));
		if (!entries)
			return -ENOMEM;
		symtab->entries = entries;
		symtab->capacity = capacity;
	}
	int err = pool_add(symtab, name, &name_offset);
	if (err == 0)
		err = add_module(symtab, module, &module_offset);
	if (err < 0)
		return err;

	symtab->entries[symtab->count++] = (struct entry){
		.address = address,
		.end = size > UINT64_MAX - address ? UINT64_MAX : address + size,
		.name = name_offset,
		.module = module_offset,
		.global = global,
		.sized = size > 0,
	};
	return 0;
}

/* Whether `a` wins where both cover an address. */
static bool wins(const struct symtab *symtab, const struct entry *a, const struct entry *b)
{
	if (a->sized != b->sized)
		return a->sized;
	if (a->global != b->global)
		return a->global;
	if (a->end - a->address != b->end - b->address)
		return a->end - a->address > b->end - b->address;
	return strcmp(pool_text(symtab, a->name), pool_text(symtab, b->name)) < 0;
}

static int by_address(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

/* Merges `count` sorted entries into `sorted` other ones. The array has room. */
static void merge_entries(struct entry *entries, size_t sorted, const struct entry *more,
                          size_t count)
{
	while (count) {
		bool last = !sorted || entries[sorted - 1].address <= more[count - 1].address;

		entries[sorted + count - 1] = last ? more[count - 1] : entries[sorted - 1];
		count -= last;
		sorted -= !last;
	}
}

/* The kernel's symbols come sorted, except for some of its modules at the end. */
static int sort_entries(struct symtab *symtab)
{
	_cleanup_free_ struct entry *more = NULL;
	struct entry *entries = symtab->entries;
	size_t sorted = 1, count;

	while (sorted < symtab->count && entries[sorted - 1].address <= entries[sorted].address)
		sorted++;
	count = symtab->count - sorted;
	if (count > sorted) {
		qsort(entries, symtab->count, sizeof(*entries), by_address);
		return 0;
	}
	more = malloc(count * sizeof(*more) + 1);
	if (!more)
		return -ENOMEM;
	memcpy(more, entries + sorted, count * sizeof(*more));
	qsort(more, count, sizeof(*more), by_address);
	merge_entries(entries, sorted, more, count);
	return 0;
}

static void stretch_sizeless(struct symtab *symtab)
{
	uint64_t next = 0; /* start of the first symbol behind those seen */
	bool have_next = false;

	for (size_t i = symtab->count; i-- > 0;) {
		struct entry *entry = &symtab->entries[i];
		if (i + 1 < symtab->count && entry[1].address != entry->address) {
			next = entry[1].address;
			have_next = true;
		}
		if (entry->sized)
			continue;
		if (have_next)
			entry->end = next;
		else if (__builtin_add_overflow(entry->address, LAST_REACH, &entry->end))
			entry->end = UINT64_MAX;
	}
}

/* The symbols that cover the sweep's place, with the winner on top: a binary heap of entry
 * indices. */
struct heap {
	const struct symtab *symtab;
	uint32_t *items;
	size_t count;
};

static bool heap_wins(const struct heap *heap, size_t a, size_t b)
{
	const struct entry *entries = heap->symtab->entries;

	return wins(heap->symtab, &entries[heap->items[a]], &entries[heap->items[b]]);
}

static void heap_swap(struct heap *heap, size_t a, size_t b)
{
	uint32_t item = heap->items[a];

	heap->items[a] = heap->items[b];
	heap->items[b] = item;
}

static void heap_push(struct heap *heap, uint32_t item)
{
	size_t at = heap->count++;

	heap->items[at] = item;
	for (; at && heap_wins(heap, at, (at - 1) / 2); at = (at - 1) / 2)
		heap_swap(heap, at, (at - 1) / 2);
}

static void heap_pop(struct heap *heap)
{
	size_t at = 0;

	heap->items[0] = heap->items[--heap->count];
	for (;;) {
		size_t best = at, left = 2 * at + 1, right = left + 1;
		if (left < heap->count && heap_wins(heap, left, best))
			best = left;
		if (right < heap->count && heap_wins(heap, right, best))
			best = right;
		if (best == at)
			return;
		heap_swap(heap, at, best);
		at = best;
	}
}

static void add_range(struct symtab *symtab, uint64_t start, uint32_t item)
{
	size_t count = symtab->range_count;

	/* The same winner as before needs no new range, because its end is in its entry. */
	if (count && symtab->range_entry[count - 1] == item)
		return;
	symtab->range_start[count] = start;
	symtab->range_entry[count] = item;
	symtab->range_count++;
}

static void sweep(struct symtab *symtab, struct heap *heap)
{
	const struct entry *entries = symtab->entries;
	uint64_t place = 0;
	size_t next = 0;

	while (next < symtab->count || heap->count) {
		if (!heap->count && entries[next].address > place)
			place = entries[next].address;
		while (next < symtab->count && entries[next].address <= place)
			heap_push(heap, (uint32_t)next++);
		while (heap->count && entries[heap->items[0]].end <= place)
			heap_pop(heap);
		if (!heap->count)
			continue;
		add_range(symtab, place, heap->items[0]);
		place = entries[heap->items[0]].end;
		if (next < symtab->count && entries[next].address < place)
			place = entries[next].address;
	}
}

/* Where no symbol extends over another, as in the kernel, the entries can serve as ranges. */
static bool ranges_begin_entries(const struct symtab *symtab)
{
	for (size_t i = 0; i < symtab->range_count; i++) {
		if (symtab->entries[symtab->range_entry[i]].address != symtab->range_start[i])
			return false;
	}
	return true;
}

/* Keeps only the entries that win somewhere, and drops the ranges. */
static void keep_winners(struct symtab *symtab)
{
	struct entry *entries = symtab->entries;

	for (size_t i = 0; i < symtab->range_count; i++)
		entries[i] = entries[symtab->range_entry[i]];
	symtab->count = symtab->range_count;
	free(symtab->range_start);
	free(symtab->range_entry);
	symtab->range_start = NULL;
	symtab->range_entry = NULL;
	symtab->range_count = 0;
}

static void *shrunk(void *array, size_t bytes)
{
	void *smaller = realloc(array, bytes);

	return smaller ? smaller : array; /* the larger array still serves */
}

static void shrink(struct symtab *symtab)
{
	size_t count = symtab->count, ranges = symtab->range_count;

	if (ranges) {
		symtab->range_start = shrunk(symtab->range_start, ranges * sizeof(uint64_t));
		symtab->range_entry = shrunk(symtab->range_entry, ranges * sizeof(uint32_t));
	}
	if (count) {
		symtab->entries = shrunk(symtab->entries, count * sizeof(*symtab->entries));
		symtab->capacity = count;
	}
}

int symtab_seal(struct symtab *symtab)
{
	if (!symtab->count)
		return 0;

	/* A range begins where a symbol begins or ends, so there are at most two for each
	 * symbol. */
	_cleanup_free_ uint32_t *items = malloc(symtab->count * sizeof(*items));
	symtab->range_start = malloc(2 * symtab->count * sizeof(*symtab->range_start));
	symtab->range_entry = malloc(2 * symtab->count * sizeof(*symtab->range_entry));
	if (!items || !symtab->range_start || !symtab->range_entry)
		return -ENOMEM;

	if (sort_entries(symtab))
		return -ENOMEM;
	stretch_sizeless(symtab);
	sweep(symtab, &(struct heap){.symtab = symtab, .items = items});

	if (ranges_begin_entries(symtab))
		keep_winners(symtab);
	shrink(symtab);
	return 0;
}

size_t symtab_count(const struct symtab *symtab)
{
	return symtab->count;
}

size_t symtab_memory(const struct symtab *symtab)
{
	return sizeof(*symtab) + symtab->capacity * sizeof(*symtab->entries) +
	       symtab->range_count * (sizeof(*symtab->range_start) + sizeof(*symtab->range_entry)) +
	       symtab->pool.capacity;
}

static uint64_t range_start(const struct symtab *symtab, size_t index)
{
	return symtab->range_start ? symtab->range_start[index] : symtab->entries[index].address;
}

/* The winner of the last range that begins at or before the address. */
static const struct entry *find_entry(const struct symtab *symtab, uint64_t address)
{
	size_t low = 0, high = symtab->range_start ? symtab->range_count : symtab->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (range_start(symtab, middle) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	return &symtab->entries[symtab->range_entry ? symtab->range_entry[low - 1] : low - 1];
}

bool symtab_find(const struct symtab *symtab, uint64_t address, struct symbol *ret_symbol)
{
	const struct entry *entry = find_entry(symtab, address);

	if (!entry || address >= entry->end)
		return false;
	*ret_symbol = (struct symbol){
		.address = entry->address,
		.size = entry->end - entry->address,
		.name = pool_text(symtab, entry->name),
		.module = entry->module ? pool_text(symtab, entry->module) : NULL,
		.sized = entry->sized,
	};
	return true;
}
