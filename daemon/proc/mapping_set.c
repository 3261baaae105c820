/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The sorted array behind struct mapping_set.
 */
#include "proc/mapping_set.h"

#include "base/bounds.h"

#include <errno.h>
#include <string.h>

struct mapping_set {
	int references;
	uint64_t serial;
	size_t count, capacity;
	struct proc_mapping *items;
};

static uint64_t next_serial(void)
{
	static uint64_t last;

	return ++last;
}

struct mapping_set *mapping_set_new(void)
{
	struct mapping_set *set = calloc(1, sizeof(*set));

	if (!set)
		return NULL;
	set->references = 1;
	set->serial = next_serial();
	return set;
}

struct mapping_set *mapping_set_ref(struct mapping_set *set)
{
	set->references++;
	return set;
}

void mapping_set_unref(struct mapping_set *set)
{
	if (!set || --set->references > 0)
		return;
	for (size_t i = 0; i < set->count; i++)
		free(set->items[i].path);
	free(set->items);
	free(set);
}

static int reserve(struct mapping_set *set, size_t more)
{
	size_t capacity = set->capacity ? set->capacity * 2 : 8;
	struct proc_mapping *items;

	if (set->count + more <= set->capacity)
		return 0;
	while (capacity < set->count + more)
		capacity *= 2;
	items = realloc(set->items, capacity * sizeof(*items));
	if (!items)
		return -ENOMEM;
	set->items = items;
	set->capacity = capacity;
	return 0;
}

static int copy_mapping(struct proc_mapping *to, const struct proc_mapping *from)
{
	*to = *from;
	to->path = strdup(from->path);
	return to->path ? 0 : -ENOMEM;
}

static int make_own(struct mapping_set **set)
{
	_cleanup_(mapping_set_unrefp) struct mapping_set *copy = NULL;

	if ((*set)->references == 1)
		return 0;
	copy = mapping_set_new();
	if (!copy || reserve(copy, (*set)->count + 1))
		return -ENOMEM;
	for (size_t i = 0; i < (*set)->count; i++) {
		if (copy_mapping(&copy->items[i], &(*set)->items[i]))
			return -ENOMEM;
		copy->count++;
	}
	mapping_set_unref(*set);
	*set = TAKE_PTR(copy);
	return 0;
}

/* Index of the first mapping that ends above the address. */
static size_t first_above(const struct mapping_set *set, uint64_t address)
{
	size_t low = 0, high = set->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (set->items[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void insert_at(struct mapping_set *set, size_t at, const struct proc_mapping *mapping)
{
	memmove(&set->items[at + 1], &set->items[at], (set->count - at) * sizeof(*set->items));
	set->items[at] = *mapping;
	set->count++;
}

static void remove_at(struct mapping_set *set, size_t at)
{
	free(set->items[at].path);
	set->count--;
	memmove(&set->items[at], &set->items[at + 1], (set->count - at) * sizeof(*set->items));
}

/* Makes [start, end) free; where the next mapping belongs. There is room for one split. */
static int clear_range(struct mapping_set *set, uint64_t start, uint64_t end, size_t *ret_at)
{
	size_t at = first_above(set, start);

	while (at < set->count && set->items[at].start < end) {
		struct proc_mapping *old = &set->items[at];

		if (old->start < start) {
			if (old->end > end) {
				struct proc_mapping tail;

				if (copy_mapping(&tail, old))
					return -ENOMEM;
				tail.offset += end - tail.start;
				tail.start = end;
				insert_at(set, at + 1, &tail);
			}
			set->items[at].end = start;
			at++;
		} else if (old->end > end) {
			old->offset += end - old->start;
			old->start = end;
		} else {
			remove_at(set, at);
		}
	}
	*ret_at = at;
	return 0;
}

int mapping_set_add(struct mapping_set **set, const struct proc_mapping *mapping)
{
	struct proc_mapping copy;
	size_t at;
	int err;

	if (mapping->start >= mapping->end)
		return -EINVAL;
	if ((*set)->count >= MAX_MAPPINGS)
		return -ENOSPC;
	err = make_own(set);
	if (err)
		return err;
	err = reserve(*set, 2);
	if (err)
		return err;
	err = copy_mapping(&copy, mapping);
	if (err)
		return err;
	err = clear_range(*set, mapping->start, mapping->end, &at);
	if (err) {
		free(copy.path);
		return err;
	}
	insert_at(*set, at, &copy);
	(*set)->serial = next_serial();
	return 0;
}

const struct proc_mapping *mapping_set_find(const struct mapping_set *set, uint64_t address)
{
	size_t at = first_above(set, address);

	if (at == set->count || set->items[at].start > address)
		return NULL;
	return &set->items[at];
}

size_t mapping_set_count(const struct mapping_set *set)
{
	return set->count;
}

const struct proc_mapping *mapping_set_at(const struct mapping_set *set, size_t index)
{
	return index < set->count ? &set->items[index] : NULL;
}

bool mapping_set_equal(const struct mapping_set *a, const struct mapping_set *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		const struct proc_mapping *x = &a->items[i], *y = &b->items[i];

		if (x->start != y->start || x->end != y->end || x->offset != y->offset ||
		    x->object != y->object || strcmp(x->path, y->path) != 0)
			return false;
	}
	return true;
}

uint64_t mapping_set_serial(const struct mapping_set *set)
{
	return set->serial;
}
