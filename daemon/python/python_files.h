/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct python_files - which executables and libraries contain CPython, and its layout. Each file
 * is examined once, in a reader process, one at a time. Loop thread only.
 */
#pragma once

#include "base/cleanup.h"
#include "object/store.h"
#include "python/python_ask.h"
#include "reader/reader.h"

#include <stdbool.h>
#include <uv.h>

struct python_files;

struct python_file {
	const struct object *object;
	struct python_contents contents; /* addresses are the file's own */
	size_t holders;                  /* the entry is kept while there are any */
};

/* Called after a file was found to contain CPython, and when a file that there was no room to
 * examine may be examined now. */
typedef void python_found_fn(void *ctx);

/* NULL when out of memory. */
struct python_files *python_files_new(uv_loop_t *loop, struct store *store, python_found_fn *fn,
                                      void *ctx);
/* Accepts no more work; call python_files_free() after the loop has ended. */
void python_files_stop(struct python_files *files);
void python_files_free(struct python_files *files); /* accepts NULL */
DEFINE_CLEANUP(struct python_files *, python_files_free)

/* Looks up a file by its object's id in the store. NULL when the file contains no CPython, or, with
 * *ret_pending set, when that is not known yet; the file is then examined. */
struct python_file *python_files_get(struct python_files *files, uint32_t id, bool *ret_pending);
/* What a file without CPython says of asyncio. NULL: nothing; or, with *ret_pending set, that is
 * not known yet. */
const struct python_asyncio *python_files_asyncio(struct python_files *files, uint32_t id,
                                                  bool *ret_pending);
/* Holds `file` in place of *held and releases that; either may be NULL. */
void python_file_hold(struct python_file **held, struct python_file *file);
size_t python_files_count(const struct python_files *files);
uint64_t python_files_failed(const struct python_files *files);
uint64_t python_files_put_off(const struct python_files *files); /* for lack of room */
void python_files_add_reader_stats(const struct python_files *files, struct reader_stats *stats);
