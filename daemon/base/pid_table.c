/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Two levels, like a page table.
 */
#include "base/pid_table.h"

#include "base/bounds.h"

#include <errno.h>
#include <stdlib.h>

enum { PER_PAGE = 64, PAGES = MAX_TASK_ID / PER_PAGE + 1 };

struct pid_page {
	uint32_t count;
	void *at[PER_PAGE];
};

int pid_table_init(struct pid_table *table)
{
	*table = (struct pid_table){.pages = calloc(PAGES, sizeof(struct pid_page *))};
	return table->pages ? 0 : -ENOMEM;
}

void pid_table_release(struct pid_table *table)
{
	for (size_t i = 0; table->pages && i < PAGES; i++)
		free(table->pages[i]);
	free(table->pages);
	*table = (struct pid_table){0};
}

void *pid_table_find(const struct pid_table *table, uint32_t pid)
{
	const struct pid_page *page = pid <= MAX_TASK_ID ? table->pages[pid / PER_PAGE] : NULL;

	return page ? page->at[pid % PER_PAGE] : NULL;
}

int pid_table_add(struct pid_table *table, uint32_t pid, void *what)
{
	struct pid_page **page;

	if (pid > MAX_TASK_ID)
		return -ERANGE;
	page = &table->pages[pid / PER_PAGE];
	if (!*page && !(*page = calloc(1, sizeof(**page))))
		return -ENOMEM;
	(*page)->at[pid % PER_PAGE] = what;
	(*page)->count++;
	table->count++;
	return 0;
}

void pid_table_remove(struct pid_table *table, uint32_t pid)
{
	struct pid_page **page = &table->pages[pid / PER_PAGE];

	(*page)->at[pid % PER_PAGE] = NULL;
	table->count--;
	if (--(*page)->count)
		return;
	free(*page);
	*page = NULL;
}

void *pid_table_next(const struct pid_table *table, uint32_t *pid)
{
	while (*pid <= MAX_TASK_ID) {
		const struct pid_page *page = table->pages[*pid / PER_PAGE];
		void *what;

		if (!page) {
			*pid += PER_PAGE - *pid % PER_PAGE;
			continue;
		}
		what = page->at[(*pid)++ % PER_PAGE];
		if (what)
			return what;
	}
	return NULL;
}
