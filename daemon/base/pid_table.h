/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct pid_table - one pointer per process, found by pid. The kernel assigns pids in sequence, so
 * the pids of a fork storm are adjacent. An array in pages, of which only those in use exist, keeps
 * them side by side; a hash table would scatter them over memory. Owned by the structure that
 * contains it; one thread at a time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct pid_page;

struct pid_table {
	struct pid_page **pages;
	size_t count; /* pids with a pointer */
};

int pid_table_init(struct pid_table *table); /* -ENOMEM */
/* Does not free what the pointers point to. */
void pid_table_release(struct pid_table *table);

/* NULL: the pid has no pointer. */
void *pid_table_find(const struct pid_table *table, uint32_t pid);
/* The pid must not have a pointer yet. -ERANGE over MAX_TASK_ID; -ENOMEM. */
int pid_table_add(struct pid_table *table, uint32_t pid, void *what);
void pid_table_remove(struct pid_table *table, uint32_t pid); /* the pid must have a pointer */
/* The pointer of the first pid from *pid on that has one; sets *pid to the number after that pid.
 * NULL: there are no more. Pids may be added and removed between calls. */
void *pid_table_next(const struct pid_table *table, uint32_t *pid);
