/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct pid_table - what is known of each process, found by its pid. The kernel gives pids in
 * turn, so those of a storm are neighbours: an array in pages, of which those exist that have
 * something in them, has them side by side where a hash table has them all over memory. Owned by
 * whoever has it in a structure; one thread at a time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct pid_page;

struct pid_table {
	struct pid_page **pages;
	size_t count; /* pids that have something */
};

int pid_table_init(struct pid_table *table); /* -ENOMEM */
/* Frees nothing that is in it. */
void pid_table_release(struct pid_table *table);

/* NULL: nothing. */
void *pid_table_find(const struct pid_table *table, uint32_t pid);
/* Of a pid that has nothing yet. -ERANGE over MAX_TASK_ID; -ENOMEM. */
int pid_table_add(struct pid_table *table, uint32_t pid, void *what);
void pid_table_remove(struct pid_table *table, uint32_t pid); /* of one that has something */
/* What the first pid from *pid on has, which *pid is behind afterwards; NULL: there are no more.
 * What comes and goes meanwhile does no harm. */
void *pid_table_next(const struct pid_table *table, uint32_t *pid);
