/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct selection - what a client asked for: which samples, and how they are shown. Plain data
 * that may be copied. An empty list selects everything.
 */
#pragma once

#include "base/bounds.h"
#include "profile/descent.h"
#include "profile/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the native frames of interpreters' loops are treated. */
enum loop_view {
	LOOPS_HIDDEN,
	LOOPS_SHOWN, /* as frames of a file like any other */
	LOOPS_KEPT,  /* as they are, for a result that is merged again; accounts are kept, too */
};

/* How the locks are treated for which stacks wait. */
enum lock_view {
	LOCKS_HIDDEN,
	LOCKS_SHOWN, /* in place of the kernel's frames, which are those of all futex calls */
	LOCKS_KEPT,  /* together with these, for a result that is merged again */
};

struct selection {
	uint32_t pids[MAX_QUERY_VALUES], tids[MAX_QUERY_VALUES];
	size_t pid_count, tid_count;
	const char *comms[MAX_QUERY_VALUES]; /* the process's or the thread's name, exactly */
	const char *units[MAX_QUERY_VALUES], *pods[MAX_QUERY_VALUES]; /* exactly */
	/* The exact name; or the beginning of the id, from 4 digits on, or all 64 digits of it. */
	const char *containers[MAX_QUERY_VALUES];
	size_t comm_count, unit_count, pod_count, container_count;
	bool no_kernel; /* leave out kernel frames, and samples that have no others */
	/* Leave out the frames of a stack that are not of interpreted code, or of generated code
	 * that no interpreted code has called. A stack that has no others becomes NATIVE_FRAME of
	 * select.h, or its root if that is a name in brackets. */
	bool no_native;
	/* VIEW_wall: the slices are of waits and of CPU time; they become one profile, in which CPU
	 * time has the state RUNNING_STATE of select.h. */
	enum view view;
	enum lock_view locks;
	bool no_work;  /* leave out waiting for work: profile/activity.h */
	bool tasks;    /* of VIEW_wall: show asynchronous tasks, in place of their event loop */
	bool idle;     /* show the idle task, as one sample named [idle] */
	bool dims;     /* distinguish launches by their grids and blocks */
	bool timed;    /* distinguish slices, by each task's at_ms */
	bool accounts; /* distinguish tasks by their accounts */
	bool folds;    /* put the samples of an account under one frame, FOLDED_FRAME of select.h */
	uint32_t folded;
	enum loop_view loops;
	bool children;               /* also the processes that descend from `pids` */
	const struct kinship *known; /* for that: parent-child pairs not in the slices */
	size_t known_count;
};
