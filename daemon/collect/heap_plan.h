/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct heap_plan - where probes go in a process: the files with its allocators, held open, and
 * the places in them. Made on a lane: it reads symbols and code. No state of its own.
 */
#pragma once

#include "bpf/heap.h"
#include "collect/uprobes.h"
#include "heap/allocators.h"

#include <stdbool.h>

enum { MAX_HEAP_FILES = 1024 }; /* executable ones of a process that are looked into */

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
	char allocator[32]; /* the one that malloc() reaches, as people call it */
	char file[256];     /* that it is in, as the process sees it */
	uint32_t sites;
	size_t file_count;
	struct heap_plan_file files[MAX_ALLOCATORS];
};

/* -ESRCH when there is no such process, -ENOENT when it has no allocator that can be probed,
 * -ENOTSUP for one of another machine, -ENOMEM. heap_plan_release() in any case. */
int heap_plan_make(struct heap_plan *plan, uint32_t pid, uint8_t slot, bool have_sessions);
void heap_plan_release(struct heap_plan *plan);
