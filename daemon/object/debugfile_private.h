/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The places where files with debug information are looked for.
 */
#pragma once

#include "object/object.h"

#define DEBUG_FOLDER "/usr/lib/debug"

/* The root folders to look below, one after the other. */
struct debug_roots {
	int fds[2]; /* -1: our own */
	size_t count;
};

/* Told a regular file that is there; its own descriptor is the caller's, TAKE_FD() it to keep it.
 * 0: this is the one. */
typedef int debug_file_fn(int *fd, const char *path, void *ctx);

/* That of the process that mapped the object, if it still has the root folder it had then: its
 * number may be another process's by now. */
void debug_roots_init(struct debug_roots *roots, const struct object *object);
void debug_roots_release(struct debug_roots *roots);
/* Calls fn for the file at a path below each root until it returns 0; else -ENOENT. */
int debug_roots_try(const struct debug_roots *roots, const char *path, debug_file_fn *fn,
                    void *ctx);
/* The same for the file that DEBUG_FOLDER has under a build ID, in hexadecimal. */
int debug_roots_try_build_id(const struct debug_roots *roots, const char *build_id,
                             debug_file_fn *fn, void *ctx);
