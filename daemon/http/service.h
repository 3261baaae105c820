/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the handlers show and use. daemon.c fills it in; all of it outlives the server.
 */
#pragma once

#include "access/access.h"
#include "base/lane.h"
#include "collect/collector.h"
#include "gpu/nvml.h"
#include "http/policy.h"
#include "memory/pss.h"
#include "symbolize/symbolize.h"

#include <sys/utsname.h>

struct task_watches;

struct service {
	uv_loop_t *loop;
	struct collector *collector;
	struct heaps *heaps;     /* owned by the collector */
	struct history *history; /* by enum profile_kind */
	struct procs *procs;
	struct store *store;
	struct symbolizer *symbolizer; /* used on the render lane only */
	struct nvml *nvml;
	struct fetch *fetch;     /* NULL: no debuginfod servers */
	struct exports *exports; /* NULL: nothing is exported */
	struct lane *render;
	const struct policy *policy;
	struct access *access;
	struct lane *passwords; /* hashes passwords */
	/* List processes without and with command lines, which that lane reads aside. */
	struct lane *processes, *cmdlines;
	/* Of that lane: for command lines, and for tasks. A program whose tasks take long to read
	 * has its command lines read all the same. */
	struct aside *aside, *tasks_aside;
	struct task_watches *watches; /* reads tasks while profiles are taken */
	struct pss_reader *pss;
	const struct utsname *host; /* the host's name and the kernel's release, as of the start */
	/* The names of those that the daemon has kept; the last is followed by NULL. */
	const char *const *capabilities;
	uint64_t start_mono_ns;
	uint32_t sample_hz;
	uint64_t keep_ns; /* how far back the history goes at most */
};
