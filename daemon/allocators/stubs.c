/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sorts the stubs by name, looks the symbols up among them, then sorts the stubs by address.
 */
#include "allocators/stubs.h"

#include <errno.h>
#include <string.h>

struct growing {
	struct stubs *stubs;
	size_t capacity;
};

static int by_name(const void *a, const void *b)
{
	const struct stub *left = a, *right = b;
	int order = strcmp(left->name, right->name);

	return order ? order : (left->address > right->address) - (left->address < right->address);
}

static int by_address(const void *a, const void *b)
{
	const struct stub *left = a, *right = b;

	return (left->address > right->address) - (left->address < right->address);
}

static int add_stub(const char *name, uint64_t address, uint64_t size, bool global, void *ctx)
{
	struct growing *growing = ctx;
	struct stubs *stubs = growing->stubs;

	(void)size;
	(void)global;
	if (stubs->count == MAX_STUBS)
		return 1;
	if (stubs->count == growing->capacity) {
		size_t wanted = growing->capacity ? growing->capacity * 2 : 64;
		struct stub *grown = reallocarray(stubs->at, wanted, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		stubs->at = grown;
		growing->capacity = wanted;
	}
	char *copy = strndup(name, strcspn(name, "@"));
	if (!copy)
		return -ENOMEM;
	stubs->at[stubs->count++] = (struct stub){.address = address, .name = copy};
	return 0;
}

/* Finds the first stub with that name, then sets all of them. */
static int resolve(const char *name, uint64_t address, uint64_t size, bool global, void *ctx)
{
	struct stubs *stubs = ctx;
	size_t low = 0, high = stubs->count;

	(void)size;
	if (!global)
		return 0;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (strcmp(stubs->at[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < stubs->count && !strcmp(stubs->at[low].name, name); low++)
		stubs->at[low].function = address;
	return 0;
}

int stubs_read(const struct elf *elf, struct stubs *ret_stubs)
{
	*ret_stubs = (struct stubs){0};
	int err = elf_each_stub(elf, add_stub, &(struct growing){.stubs = ret_stubs});

	if (err == -ENOMEM) {
		stubs_release(ret_stubs);
		return err;
	}
	if (!ret_stubs->count)
		return 0;
	qsort(ret_stubs->at, ret_stubs->count, sizeof(*ret_stubs->at), by_name);
	elf_each_symbol(elf, resolve, ret_stubs);
	qsort(ret_stubs->at, ret_stubs->count, sizeof(*ret_stubs->at), by_address);
	return 0;
}

void stubs_release(struct stubs *stubs)
{
	for (size_t i = 0; i < stubs->count; i++)
		free(stubs->at[i].name);
	free(stubs->at);
	*stubs = (struct stubs){0};
}

const struct stub *stubs_find(const struct stubs *stubs, uint64_t address)
{
	const struct stub key = {.address = address};

	return stubs->count ? bsearch(&key, stubs->at, stubs->count, sizeof(*stubs->at), by_address)
	                    : NULL;
}
