/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct heap_plan - where probes go in a process: the files with its allocators, held open, and
 * the places in them. Made on a lane: a reader process reads symbols and code. No state of its own.
 */
#pragma once

#include "bpf/heap.h"
#include "heap/heap_search.h"
#include "kernel/uprobes.h"

#include <stdbool.h>

/* The places that one program is attached to. */
struct heap_places {
	uint64_t *offsets, *cookies;
	size_t count;
};

struct heap_plan_file {
	int fd;
	char path[32]; /* of the descriptor, for the kernel */
	/* session: functions that no exception leaves, probed at entry and return. entry: functions
	 * that need no return probe. leave: the return instructions of functions that an exception
	 * may leave. all: every entry, for counting. */
	struct heap_places session, entry, leave, all;
};

struct heap_plan {
	char allocator[32]; /* the allocator that malloc() reaches, by its usual name */
	char file[256];     /* the file that it is in, as the process sees it */
	/* Files that could not be read, at most two. The allocator may be in one of them. */
	uint32_t unread;
	char unread_file[256]; /* the first of those */
	uint32_t sites;
	size_t file_count;
	struct heap_plan_file files[MAX_ALLOCATORS];
	struct heap_range code[MAX_ALLOCATORS]; /* where the process has the code of each file */
};

struct heap_plan_ask {
	struct aside *aside;
	struct reader *reader; /* used for this plan only: see heap_search.h */
	uint32_t pid;
	uint8_t slot; /* in the cookies */
	bool have_sessions;
};

/* The errors of heap_search_process(); -ENOENT also when none of the allocators found can be
 * probed. Call heap_plan_release() in any case. */
int heap_plan_make(struct heap_plan *plan, const struct heap_plan_ask *ask);
void heap_plan_release(struct heap_plan *plan);
