/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What asynchronous tasks are in a profile of all time. A task that waits has a sample whose path
 * is that of the tasks that wait for it, the outermost first, then its own frames. Its name is the
 * label `task`. A task that runs is on the stack of the thread that runs the event loop. Pure.
 */
#pragma once

#include "profile/builder.h"

/* Between the frames of a task and those of the task for which it waits. */
#define AWAITS_FRAME "[awaits]"

/* Gives the samples of tasks the labels of their process. Moves what runs in tasks to the paths of
 * these: the frames of the event loop go, and those of the tasks that wait come in their place,
 * where nine tenths of the time of tasks that begin with that function are below the same path.
 * Call when all names are known. 0 or -ENOMEM. */
int awaits_join(struct builder *builder);
