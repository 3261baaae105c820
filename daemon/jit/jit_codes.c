/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Laying sorted codes over sorted codes is a merge. Sorting is a merge sort by it, in which the
 * second half is laid over the first, since it was told later. Code drops what it overlaps even if
 * it is replaced itself before it is laid, so the ranges of all codes are kept until then.
 */
#include "jit/jit_codes.h"

#include "base/clean.h"
#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

/* Larger pieces of code are not generated; what claims one is wrong. */
#define MAX_CODE_BYTES (1ULL << 30)

enum { NAME_OVERHEAD = 16 /* of malloc() */ };

static int make_room(struct jit_codes *codes)
{
	size_t capacity = codes->capacity * 2 ?: 64;
	struct jit_code *grown;

	if (codes->count < codes->capacity)
		return 0;
	grown = realloc(codes->at, capacity * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	codes->at = grown;
	codes->capacity = capacity;
	return 0;
}

int jit_codes_append(struct jit_codes *codes, uint64_t start, uint64_t size, const char *name,
                     size_t len, struct jit_lines *lines)
{
	_cleanup_(jit_lines_freep) struct jit_lines *own = lines;
	char *copy;

	if (!size || size > MAX_CODE_BYTES || start + size < start || !len)
		return 0;
	copy = strndup(name, len < JIT_NAME_BYTES ? len : JIT_NAME_BYTES - 1);
	if (!copy || make_room(codes)) {
		free(copy);
		return -ENOMEM;
	}
	clean_text(copy);
	codes->at[codes->count++] = (struct jit_code){
		.start = start,
		.end = start + size,
		.name = copy,
		.name_bytes = (uint32_t)strlen(copy),
		.lines = TAKE_PTR(own),
	};
	return 0;
}

static void drop_code(struct jit_code *code)
{
	free(code->name);
	jit_lines_free(code->lines);
	code->name = NULL;
	code->lines = NULL;
}

static bool is_same(const struct jit_code *one, const struct jit_code *other)
{
	return one->start == other->start && one->end == other->end &&
	       one->name_bytes == other->name_bytes && !strcmp(one->name, other->name);
}

/* Code that is told again stays as it is, but may get its lines now. */
static void keep(struct jit_code *code, struct jit_code *again)
{
	if (!code->lines)
		code->lines = TAKE_PTR(again->lines);
	drop_code(again);
}

/* Drops the codes that overlap one of the ranges, which `above` covers or has covered. Code that is
 * told again is dropped from `above` instead. */
static void drop(struct jit_code *below, size_t below_count, struct jit_code *above,
                 size_t above_count, const struct jit_ranges *ranges)
{
	size_t range = 0, again = 0;

	for (size_t i = 0; i < below_count; i++) {
		struct jit_code *code = &below[i];

		while (range < ranges->count && ranges->at[range].end <= code->start)
			range++;
		if (range == ranges->count || ranges->at[range].start >= code->end)
			continue;
		while (again < above_count && above[again].start < code->start)
			again++;
		if (again < above_count && is_same(code, &above[again]) &&
		    !above[again].has_replaced)
			keep(code, &above[again]);
		else
			drop_code(code);
	}
}

/* Moves what is not dropped to `out`, which has room for both. Returns how many are left. */
static size_t merge(const struct jit_code *below, size_t below_count, const struct jit_code *above,
                    size_t above_count, struct jit_code *out)
{
	size_t next = 0, count = 0;

	for (size_t i = 0; i < above_count; i++) {
		struct jit_code code = above[i];

		for (; next < below_count && below[next].end <= code.start; next++)
			if (below[next].name)
				out[count++] = below[next];
		if (!code.name)
			continue;
		for (size_t j = next; j < below_count && below[j].start < code.end; j++)
			code.has_replaced |= !below[j].name;
		out[count++] = code;
	}
	for (; next < below_count; next++)
		if (below[next].name)
			out[count++] = below[next];
	return count;
}

struct sorting {
	struct jit_code *spare_codes;
	struct jit_range *spare_ranges;
};

/* Sorts codes, and puts what they cover, also those of them that others have replaced, to `ranges`.
 */
static size_t sort(const struct sorting *sorting, struct jit_code *codes, size_t count,
                   struct jit_ranges *ranges)
{
	size_t half = count / 2, first, second;
	struct jit_ranges below = {ranges->at, 0}, above = {ranges->at + half, 0};

	ranges->count = count;
	if (count == 1)
		ranges->at[0] = (struct jit_range){codes->start, codes->end};
	if (count < 2)
		return count;
	first = sort(sorting, codes, half, &below);
	second = sort(sorting, codes + half, count - half, &above);
	drop(codes, first, codes + half, second, &above);
	count = merge(codes, first, codes + half, second, sorting->spare_codes);
	memcpy(codes, sorting->spare_codes, count * sizeof(*codes));
	ranges->count = jit_ranges_join(below.at, below.count, above.at, above.count,
	                                sorting->spare_ranges);
	memcpy(ranges->at, sorting->spare_ranges, ranges->count * sizeof(*ranges->at));
	return count;
}

int jit_codes_sort(struct jit_codes *codes)
{
	_cleanup_free_ struct jit_code *spare_codes =
		calloc(codes->count + 1, sizeof(*spare_codes));
	_cleanup_free_ struct jit_range *spare_ranges =
		calloc(codes->count + 1, sizeof(*spare_ranges));
	const struct sorting sorting = {spare_codes, spare_ranges};

	codes->told.at = calloc(codes->count + 1, sizeof(*codes->told.at));
	if (!codes->told.at || !spare_codes || !spare_ranges)
		return -ENOMEM;
	codes->count = sort(&sorting, codes->at, codes->count, &codes->told);
	return 0;
}

/* Where the codes are that were dropped. `ranges` has room for all. */
static size_t list_dropped(const struct jit_codes *codes, struct jit_range *ranges)
{
	size_t count = 0;

	for (size_t i = 0; i < codes->count; i++)
		if (!codes->at[i].name)
			ranges[count++] = (struct jit_range){codes->at[i].start, codes->at[i].end};
	return count;
}

int jit_codes_lay(struct jit_codes *codes, struct jit_codes *told, uint32_t since,
                  struct jit_ranges *gone)
{
	size_t capacity = codes->count + told->count;
	struct jit_code *out = calloc(capacity + 1, sizeof(*out));
	_cleanup_free_ struct jit_range *dropped = calloc(codes->count + 1, sizeof(*dropped));

	for (size_t i = 0; i < told->count; i++)
		told->at[i].since = since;
	drop(codes->at, codes->count, told->at, told->count, &told->told);
	if (!out || !dropped || jit_ranges_add(gone, dropped, list_dropped(codes, dropped))) {
		free(out);
		return -ENOMEM;
	}
	codes->count = merge(codes->at, codes->count, told->at, told->count, out);
	codes->capacity = capacity;
	free(codes->at);
	codes->at = out;
	told->count = 0;
	jit_codes_release(told);
	return 0;
}

void jit_codes_forget(struct jit_codes *codes)
{
	for (size_t i = 0; i < codes->count; i++)
		drop_code(&codes->at[i]);
	codes->count = 0;
}

const struct jit_code *jit_codes_find(const struct jit_codes *codes, uint64_t address)
{
	size_t low = 0, high = codes->count;

	/* The first code that ends after the address. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (codes->at[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < codes->count && codes->at[low].start <= address ? &codes->at[low] : NULL;
}

size_t jit_codes_bytes(const struct jit_codes *codes)
{
	size_t bytes = codes->capacity * sizeof(*codes->at);

	for (size_t i = 0; i < codes->count; i++)
		bytes += codes->at[i].name_bytes + NAME_OVERHEAD +
		         jit_lines_bytes(codes->at[i].lines);
	return bytes;
}

void jit_codes_release(struct jit_codes *codes)
{
	for (size_t i = 0; i < codes->count; i++)
		drop_code(&codes->at[i]);
	free(codes->at);
	jit_ranges_release(&codes->told);
	*codes = (struct jit_codes){0};
}
