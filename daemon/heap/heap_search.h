/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct heap_search - which of the files that a process maps contain its allocators, and where
 * these are probed. All files are opened, and a reader process is asked about them. This reader
 * process must not have read the files of another process before: probes are written into this
 * process where the reader process says. On the reader's thread.
 */
#pragma once

#include "allocators/allocators.h"
#include "base/aside.h"
#include "base/cleanup.h"
#include "reader/reader.h"

enum { MAX_HEAP_FILES = 1024 }; /* executable files of a process that are read */

struct heap_found {
	int fd;                        /* of the file, as the process has it mapped */
	char *path;                    /* as the process sees it */
	uint64_t code_start, code_end; /* where the process has its code */
	struct heap_allocator allocator;
};

struct heap_search {
	size_t count;
	struct heap_found found[MAX_ALLOCATORS]; /* the first is the one that malloc() reaches */
	/* Files over which the reader process failed, so nothing is known about them; with more
	 * than two the search fails. And the path of the first. */
	uint32_t unread;
	char unread_path[256];
};

/* -ESRCH when there is no such process, -ENOENT when it has no allocator, -ENOTSUP when the program
 * is for another machine, -EIO when too many files could not be read to say, -ETIMEDOUT when the
 * whole search took longer than half a minute, or the list of its files five seconds; -ECHILD,
 * -ECANCELED and -ENOMEM as reader_ask(). The caller frees `*ret_search` even then; it is NULL only
 * when out of memory. */
int heap_search_process(struct aside *aside, struct reader *reader, uint32_t pid,
                        struct heap_search **ret_search);
void heap_search_free(struct heap_search *search); /* takes NULL */
DEFINE_CLEANUP(struct heap_search *, heap_search_free)
