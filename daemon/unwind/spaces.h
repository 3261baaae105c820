/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct spaces - the mappings of each process as the walker finds them: a slot for each pid, and
 * runs of mappings (unwind/runs.h), which all processes with equal mappings share, for example
 * after a fork. Loop thread only.
 */
#pragma once

#include "proc/mapping_set.h"
#include "unwind/tables.h"

struct spaces;

typedef void space_fn(uint32_t pid, void *ctx);

/* `evicted` is called for each process that was removed to make room for another user's process and
 * is no longer known. It must not set any process. NULL when out of memory. */
struct spaces *spaces_new(struct tables *tables, struct store *store,
                          const struct unwind_memory *memory, space_fn *evicted, void *ctx);
void spaces_free(struct spaces *spaces); /* before the tables */

/* Sets what `pid` has mapped from now on; no mappings, or NULL, for a process that has ended.
 * -ENOSPC when there is no room, or the user's share is full (the process is then not known at
 * all); -EAGAIN when the process called exec after `told_mono_ns`, so that `set` belongs to another
 * program; -EINVAL. */
int spaces_set(struct spaces *spaces, uint32_t pid, const struct mapping_set *set,
               uint64_t told_mono_ns);
/* Calls fn for each known pid; fn may set any. */
void spaces_each(struct spaces *spaces, space_fn *fn, void *ctx);

/* Calls fn for each pid whose slot an exec has cleared; fn must not set any. */
void spaces_each_cleared(struct spaces *spaces, space_fn *fn, void *ctx);

/* Frees runs that are no longer published, once every walker has been outside of them. */
void spaces_reclaim(struct spaces *spaces);
/* Increases whenever room becomes free. */
uint64_t spaces_freed(const struct spaces *spaces);

void spaces_get_stats(const struct spaces *spaces, struct unwinder_stats *stats);
