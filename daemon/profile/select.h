/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What somebody asked for, and the one operation that answers it: merge slices into a builder,
 * keeping only what the selection names. Pure; any thread.
 */
#pragma once

#include "base/bounds.h"
#include "profile/builder.h"
#include "profile/descent.h"

#include <stdbool.h>

/* What becomes of the native frames of interpreters' loops. */
enum loop_view {
	LOOPS_HIDDEN,
	LOOPS_SHOWN, /* as frames of a file like any other */
	LOOPS_KEPT,  /* as they are, for who merges the result again; so are accounts */
};

/* Where stacks were that were not kept because their account had most of all. */
#define FOLDED_FRAME "[stack not kept: too many of this user]"
/* As many of its processes in a slice have their samples by themselves; those of all others are one
 * task's, which is no process's and has this name. */
enum { FOLDED_PROCESSES = 64 };
#define FOLDED_NAME "[too many of this user]"

/* A value type; an empty list selects everything. */
struct selection {
	uint32_t pids[MAX_QUERY_VALUES], tids[MAX_QUERY_VALUES];
	size_t pid_count, tid_count;
	const char *comms[MAX_QUERY_VALUES]; /* the process's or the thread's name, exactly */
	const char *units[MAX_QUERY_VALUES], *pods[MAX_QUERY_VALUES]; /* exactly */
	/* A name exactly; of an id its beginning, from 4 digits on, or all 64 of them. */
	const char *containers[MAX_QUERY_VALUES];
	size_t comm_count, unit_count, pod_count, container_count;
	bool no_kernel; /* leave out kernel frames, and samples that have no others */
	bool idle;      /* show the idle task, as one sample named [idle] */
	bool dims;      /* tell launches apart by their grids and blocks */
	bool timed;     /* tell slices apart, by each task's at_ms */
	bool accounts;  /* tell tasks apart by whose they are */
	bool folds;     /* put the samples of an account under one frame, FOLDED_FRAME */
	uint32_t folded;
	enum loop_view loops;
	bool children;               /* and the processes that descend from `pids` */
	const struct kinship *known; /* for that: who started whom, besides what the slices tell */
	size_t known_count;
};

/* All that slices have. */
extern const struct selection select_all;

/* Adds the samples of `slices`, given oldest first, that `selection` keeps. Times, ticks, value
 * types and period come along: the result covers from the first slice's start to the last one's
 * end. The slices' own names of locations, if any, come along as well. 0, -ENOMEM, or -EINVAL when
 * the slices' value types differ. */
int select_merge(struct builder *into, struct profile *const *slices, size_t slice_count,
                 const struct selection *selection);
