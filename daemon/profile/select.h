/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The one operation that answers what a client asked for: merges slices into a builder, keeping
 * only what the selection names. Pure; any thread.
 */
#pragma once

#include "profile/builder.h"
#include "profile/selection.h"

/* The frame of stacks that were not kept because their account had most of all. */
#define FOLDED_FRAME "[stack not kept: too many of this user]"
/* This many processes of a folded account keep samples of their own in a slice. The samples of its
 * other processes belong to one task, which is not that of any process and has the name
 * FOLDED_NAME. */
enum { FOLDED_PROCESSES = 64 };
#define FOLDED_NAME "[too many of this user]"

/* Between the frames of a thread that ended a wait and those of the thread that waited, to which
 * all labels of the sample belong. */
#define WAKES_FRAME "[wakes]"
bool select_is_wakes(const struct profile *profile, uint32_t node);

/* The one frame of stacks without interpreted code, where only such code is shown. */
#define NATIVE_FRAME "[native code]"

/* The label of CPU time in VIEW_wall. */
#define RUNNING_STATE "running"
/* The type of the period of CPU time. */
#define WALL_RUNNING_TYPE "cpu"

/* Selects everything that slices have. */
extern const struct selection select_all;

/* Whether the values of both mean the same, so that they can be merged. */
bool select_same_types(const struct profile *a, const struct profile *b);

/* Calls fn for each sample that `selection` keeps, as its slice has it. 0 or -ENOMEM. */
typedef void select_sample_fn(const struct profile *slice, const struct sample *sample, void *ctx);
int select_each(struct profile *const *slices, size_t slice_count,
                const struct selection *selection, select_sample_fn *fn, void *ctx);
/* Adds those samples of `slices` that `selection` keeps. The slices are in order of time, the
 * oldest first; of VIEW_wall those of CPU time come after the others. Times, ticks, value
 * types and period are added too: the result covers the time from the first slice's start to the
 * last one's end. So are the names of locations, if the slices have any. 0, -ENOMEM, or -EINVAL if
 * the slices' value types differ. */
int select_merge(struct builder *into, struct profile *const *slices, size_t slice_count,
                 const struct selection *selection);
