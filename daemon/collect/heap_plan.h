/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct heap_plan - where probes go in a process: the files with its allocators, held open, and
 * the places in them. Made on a lane: a reader process reads symbols and code. No state of its own.
 */
#pragma once

#include "bpf/heap.h"
#include "collect/heap_search.h"
#include "collect/uprobes.h"

#include <stdbool.h>

/* Places that one program is attached to. */
struct heap_places {
	uint64_t *offsets, *cookies;
	size_t count;
};

struct heap_plan_file {
	int fd;
	char path[32]; /* of the descriptor, for the kernel */
	/* session: return from what no exception leaves. entry: what needs no return probe. leave:
	 * the return instructions of what an exception may leave. all: every entry, to count. */
	struct heap_places session, entry, leave, all;
};

struct heap_plan {
	char allocator[32];    /* the one that malloc() reaches, as people call it */
	char file[256];        /* that it is in, as the process sees it */
	uint32_t unread;       /* files that could not be looked into, at most two: it may be */
	char unread_file[256]; /* in one of these; the first */
	uint32_t sites;
	size_t file_count;
	struct heap_plan_file files[MAX_ALLOCATORS];
	struct heap_range code[MAX_ALLOCATORS]; /* of each, in the process */
};

struct heap_plan_ask {
	struct reader *reader; /* this plan's own: see heap_search.h */
	uint32_t pid;
	uint8_t slot; /* in the cookies */
	bool have_sessions;
};

/* heap_search_process()'s errors; -ENOENT also when what was found cannot be probed.
 * heap_plan_release() in any case. */
int heap_plan_make(struct heap_plan *plan, const struct heap_plan_ask *ask);
void heap_plan_release(struct heap_plan *plan);
