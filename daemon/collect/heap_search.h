/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct heap_search - which of the files that a process maps have its allocators, and where they
 * are probed: all are opened, and a reader process is asked about them. It may have read no other
 * process's files before: where it says so, this process is written to. On the reader's thread.
 */
#pragma once

#include "base/cleanup.h"
#include "heap/allocators.h"
#include "reader/reader.h"

enum { MAX_HEAP_FILES = 1024 }; /* executable ones of a process that are looked into */

struct heap_found {
	int fd;                        /* of the file, as the process has it mapped */
	char *path;                    /* as the process sees it */
	uint64_t code_start, code_end; /* where the process has its code */
	struct heap_allocator allocator;
};

struct heap_search {
	size_t count;
	struct heap_found found[MAX_ALLOCATORS]; /* the one that malloc() reaches is the first */
	/* Files over which the reader process failed, so nothing is known of them; the first's
	 * path. At most two. */
	uint32_t unread;
	char unread_path[256];
};

/* -ESRCH when there is no such process, -ENOENT when it has no allocator, -ENOTSUP when the
 * program is of another machine, -EIO when too many could not be read to say, -ETIMEDOUT when all
 * took longer than half a minute; -ECHILD, -ECANCELED and -ENOMEM as reader_ask(). Only free()
 * NULL. */
int heap_search_process(struct reader *reader, uint32_t pid, struct heap_search **ret_search);
void heap_search_free(struct heap_search *search); /* takes NULL */
DEFINE_CLEANUP(struct heap_search *, heap_search_free)
