/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A list of parents and their children, sorted by parent, and a search that follows each entry
 * once. So the search ends even if reused pids form a cycle.
 */
#include "profile/descent.h"

#include <errno.h>
#include <string.h>

struct family {
	struct kinship *lines; /* ascending, without duplicates */
	size_t count;
	bool *taken; /* by line */
};

static void family_release(struct family *family)
{
	free(family->lines);
	free(family->taken);
}

static int by_parent(const void *left, const void *right)
{
	const struct kinship *a = left, *b = right;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	return (a->pid > b->pid) - (a->pid < b->pid);
}

static int by_number(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static void add_line(struct family *family, uint32_t parent, uint32_t pid)
{
	if (parent && pid && parent != pid)
		family->lines[family->count++] = (struct kinship){parent, pid};
}

static void sort_lines(struct family *family)
{
	size_t kept = 0;

	if (family->count)
		qsort(family->lines, family->count, sizeof(*family->lines), by_parent);
	for (size_t i = 0; i < family->count; i++)
		if (!kept || by_parent(&family->lines[kept - 1], &family->lines[i]) != 0)
			family->lines[kept++] = family->lines[i];
	family->count = kept;
}

static int collect(struct family *family, struct profile *const *slices, size_t slice_count,
                   const struct kinship *known, size_t known_count)
{
	size_t most = known_count + 1;

	for (size_t i = 0; i < slice_count; i++)
		most += slices[i]->task_count;
	family->lines = calloc(most, sizeof(*family->lines));
	family->taken = calloc(most, sizeof(*family->taken));
	if (!family->lines || !family->taken)
		return -ENOMEM;
	for (size_t i = 0; i < known_count; i++)
		add_line(family, known[i].parent, known[i].pid);
	for (size_t i = 0; i < slice_count; i++)
		for (uint32_t task = 1; task < slices[i]->task_count; task++)
			add_line(family, slices[i]->tasks[task].parent, slices[i]->tasks[task].pid);
	sort_lines(family);
	return 0;
}

/* The first line of this parent, or of a larger one. */
static size_t first_line(const struct family *family, uint32_t parent)
{
	size_t low = 0, high = family->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (family->lines[middle].parent < parent)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void follow(struct family *family, struct descent *descent)
{
	for (size_t next = 0; next < descent->count; next++) {
		uint32_t parent = descent->pids[next];

		for (size_t i = first_line(family, parent);
		     i < family->count && family->lines[i].parent == parent; i++) {
			if (family->taken[i])
				break; /* this parent was visited before */
			family->taken[i] = true;
			descent->pids[descent->count++] = family->lines[i].pid;
		}
	}
}

int descent_find(const uint32_t *pids, size_t pid_count, struct profile *const *slices,
                 size_t slice_count, const struct kinship *known, size_t known_count,
                 struct descent *ret_descent)
{
	_cleanup_(family_release) struct family family = {0};
	struct descent descent = {.count = pid_count};

	if (collect(&family, slices, slice_count, known, known_count))
		return -ENOMEM;
	descent.pids = calloc(pid_count + family.count + 1, sizeof(*descent.pids));
	if (!descent.pids)
		return -ENOMEM;
	memcpy(descent.pids, pids, pid_count * sizeof(*pids));
	follow(&family, &descent);
	if (descent.count)
		qsort(descent.pids, descent.count, sizeof(*descent.pids), by_number);
	*ret_descent = descent;
	return 0;
}

bool descent_has(const struct descent *descent, uint32_t pid)
{
	return descent->count && bsearch(&pid, descent->pids, descent->count,
	                                 sizeof(*descent->pids), by_number) != NULL;
}

void descent_release(struct descent *descent)
{
	free(descent->pids);
	*descent = (struct descent){0};
}
