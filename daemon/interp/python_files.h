/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct python_files - which executables and libraries have a CPython in them, and what it is
 * like. Each is looked into once, in a reader process, one at a time. Loop thread only.
 */
#pragma once

#include "base/cleanup.h"
#include "bpf/python.h"
#include "object/store.h"
#include "reader/reader.h"

#include <stdbool.h>
#include <uv.h>

struct python_files;

struct python_file {
	const struct object *object;
	struct python_process process; /* addresses are the file's own */
	size_t holders;                /* it stays while there are any */
};

/* Told after a file was found to have one. */
typedef void python_found_fn(void *ctx);

/* NULL when out of memory. */
struct python_files *python_files_new(uv_loop_t *loop, struct store *store, python_found_fn *fn,
                                      void *ctx);
/* Takes up no more work; python_files_free() after the loop has run out. */
void python_files_stop(struct python_files *files);
void python_files_free(struct python_files *files); /* takes NULL */
DEFINE_CLEANUP(struct python_files *, python_files_free)

/* By an object's id in the store. NULL when there is no CPython in it, or, with *ret_pending, when
 * that is not known yet; then it is found out. */
struct python_file *python_files_get(struct python_files *files, uint32_t id, bool *ret_pending);
/* Holds `file` in the place of what *held holds; either may be NULL. */
void python_file_hold(struct python_file **held, struct python_file *file);
size_t python_files_count(const struct python_files *files);
uint64_t python_files_failed(const struct python_files *files);
void python_files_add_reader_stats(const struct python_files *files, struct reader_stats *stats);
