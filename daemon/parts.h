/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct parts - what records, keeps and names samples: built in the order in which they need each
 * other, taken down in reverse. The kernel half is loaded with all that this process may do; what
 * it need not is given up on the way (privileges.h), so there is no thread before. Loop thread.
 */
#pragma once

#include "base/lane.h"
#include "collect/collector.h"
#include "config.h"
#include "gpu/nvml.h"
#include "memory/pss.h"
#include "symbolize/symbolize.h"

struct parts {
	struct lane *render, *passwords, *processes, *cmdlines;
	struct pss_reader *pss;
	struct store *store;
	struct procs *procs;
	struct history *history;
	struct fetch *fetch; /* NULL: no debuginfod servers */
	struct symbolizer *symbolizer;
	struct nvml *nvml;
	struct collector *collector;
};

struct parts_config {
	uv_loop_t *loop;
	const struct config *config;
	void (*drained)(void *ctx); /* a drain has gone well */
	void *ctx;
};

/* Into one that is all zero. Samples come in from then on. A negative errno with `ret_why`, one
 * line for a person; what was built is for the two below. */
int parts_start(struct parts *parts, const struct parts_config *config, char ret_why[256]);
/* The settings were read again. */
void parts_resize(struct parts *parts, const struct config *config);
/* Nothing new is begun, and nobody waits for an answer any more. The loop has to run out. */
void parts_stop(struct parts *parts);
/* After the loop has run out. */
void parts_release(struct parts *parts);
