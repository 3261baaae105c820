/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct parts - the parts that record, keep and name samples: built in the order of their
 * dependencies, taken down in reverse. The kernel half is loaded with the process's capabilities;
 * unnecessary ones are given up before that (privileges.h), while there is no other thread. Loop
 * thread.
 */
#pragma once

#include "base/aside.h"
#include "base/lane.h"
#include "capture/task_watch.h"
#include "collect/collector.h"
#include "config.h"
#include "export/exports.h"
#include "gpu/nvml.h"
#include "memory/pss.h"
#include "symbolize/symbolize.h"

struct parts {
	struct lane *render, *passwords, *processes, *cmdlines;
	struct aside *aside, *tasks_aside; /* of the lane for command lines */
	struct task_watches watches;       /* the same */
	struct pss_reader *pss;
	struct store *store;
	struct procs *procs;
	struct history *history;
	struct fetch *fetch; /* NULL: no debuginfod servers */
	struct symbolizer *symbolizer;
	struct nvml *nvml;
	struct collector *collector;
	struct exports *exports; /* NULL: nothing is exported */
};

struct parts_config {
	uv_loop_t *loop;
	const struct config *config;
	const struct utsname *host;
	void (*drained)(void *ctx); /* called after each successful drain */
	void *ctx;
};

/* `parts` must be all zero. Samples arrive from then on. A negative errno with `ret_why`, one line
 * for a person; then the caller still calls the two functions below. */
int parts_start(struct parts *parts, const struct parts_config *config, char ret_why[256]);
/* Applies settings that were read again. */
void parts_resize(struct parts *parts, const struct config *config);
/* Begins nothing new, and cancels all waiting for answers. Afterwards the loop must run to its
 * end. */
void parts_stop(struct parts *parts);
/* To be called after the loop has ended. */
void parts_release(struct parts *parts);
