/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct spaces - which process has what mapped, as the walker finds it: a slot for each pid, and
 * runs of mappings (unwind/runs.h) that all processes of equal mappings share, as a fork makes
 * them. Loop thread only.
 */
#pragma once

#include "proc/mapping_set.h"
#include "unwind/tables.h"

struct spaces;

typedef void space_fn(uint32_t pid, void *ctx);

/* `evicted` is told of each process that made way for another user's and is not known any more; it
 * must not set any. NULL when out of memory. */
struct spaces *spaces_new(struct tables *tables, struct store *store,
                          const struct unwind_memory *memory, space_fn *evicted, void *ctx);
void spaces_free(struct spaces *spaces); /* before the tables */

/* What `pid` has mapped from now on; no mappings, or NULL, for a process that is no more. -ENOSPC
 * when there is no room, or none for its user (it is then not known at all); -EAGAIN when it called
 * exec after `told_mono_ns`, so that `set` is another program's; -EINVAL. */
int spaces_set(struct spaces *spaces, uint32_t pid, const struct mapping_set *set,
               uint64_t told_mono_ns);
/* Calls fn for each pid there is; it may set any. */
void spaces_each(struct spaces *spaces, space_fn *fn, void *ctx);

/* Calls fn for each pid whose slot an exec has cleared; it must not set any. */
void spaces_each_cleared(struct spaces *spaces, space_fn *fn, void *ctx);

/* Takes back runs that were unpublished, if every walker has been elsewhere. */
void spaces_reclaim(struct spaces *spaces);
/* Counts up whenever there is more room than there was. */
uint64_t spaces_freed(const struct spaces *spaces);

void spaces_get_stats(const struct spaces *spaces, struct unwinder_stats *stats);
