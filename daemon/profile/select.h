/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a client asked for, and the one operation that answers it: merge slices into a builder,
 * keeping only what the selection names. Pure; any thread.
 */
#pragma once

#include "base/bounds.h"
#include "profile/builder.h"
#include "profile/descent.h"

#include <stdbool.h>

/* How the native frames of interpreters' loops are treated. */
enum loop_view {
	LOOPS_HIDDEN,
	LOOPS_SHOWN, /* as frames of a file like any other */
	LOOPS_KEPT,  /* as they are, for a result that is merged again; accounts are kept, too */
};

/* The frame of stacks that were not kept because their account had most of all. */
#define FOLDED_FRAME "[stack not kept: too many of this user]"
/* This many processes of a folded account keep samples of their own in a slice. The samples of its
 * other processes belong to one task, which is not that of any process and has the name
 * FOLDED_NAME. */
enum { FOLDED_PROCESSES = 64 };
#define FOLDED_NAME "[too many of this user]"

/* Plain data that may be copied. An empty list selects everything. */
struct selection {
	uint32_t pids[MAX_QUERY_VALUES], tids[MAX_QUERY_VALUES];
	size_t pid_count, tid_count;
	const char *comms[MAX_QUERY_VALUES]; /* the process's or the thread's name, exactly */
	const char *units[MAX_QUERY_VALUES], *pods[MAX_QUERY_VALUES]; /* exactly */
	/* The exact name; or the beginning of the id, from 4 digits on, or all 64 digits of it. */
	const char *containers[MAX_QUERY_VALUES];
	size_t comm_count, unit_count, pod_count, container_count;
	bool no_kernel; /* leave out kernel frames, and samples that have no others */
	bool idle;      /* show the idle task, as one sample named [idle] */
	bool dims;      /* distinguish launches by their grids and blocks */
	bool timed;     /* distinguish slices, by each task's at_ms */
	bool accounts;  /* distinguish tasks by their accounts */
	bool folds;     /* put the samples of an account under one frame, FOLDED_FRAME */
	uint32_t folded;
	enum loop_view loops;
	bool children;               /* also the processes that descend from `pids` */
	const struct kinship *known; /* for that: parent-child pairs not in the slices */
	size_t known_count;
};

/* Selects everything that slices have. */
extern const struct selection select_all;

/* Adds those samples of `slices` that `selection` keeps. The slices are in order of time, the
 * oldest first. Times, ticks, value types and period are added too: the result covers the time from
 * the first slice's start to the last one's end. So are the names of locations, if the slices have
 * any. 0, -ENOMEM, or -EINVAL if the slices' value types differ. */
int select_merge(struct builder *into, struct profile *const *slices, size_t slice_count,
                 const struct selection *selection);
