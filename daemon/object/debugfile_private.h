/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The places where files with debug information are looked for.
 */
#pragma once

#include "object/object.h"

#define DEBUG_FOLDER "/usr/lib/debug"

/* The root folders to look below, one after the other. */
struct debug_roots {
	int fds[2]; /* -1: the daemon's own root */
	size_t count;
};

/* Called with a regular file that was found. The caller owns the descriptor; the function takes it
 * with TAKE_FD() to keep it. Returns 0 when this is the wanted file. */
typedef int debug_file_fn(int *fd, const char *path, void *ctx);

/* Adds the root folder of the process that mapped the object, if that process still has the same
 * root folder (its PID may belong to another process by now), then the daemon's own. */
void debug_roots_init(struct debug_roots *roots, const struct object *object);
/* Whether a debug file of that owner may describe the object: a user that builds a root folder must
 * not provide debug files for the programs of other users. */
static inline bool debug_owner_counts(const struct object *object, uint32_t owner)
{
	return owner == 0 || owner == object->owner;
}
void debug_roots_release(struct debug_roots *roots);
/* Calls fn for the file at a path below each root until fn returns 0; otherwise returns -ENOENT. */
int debug_roots_try(const struct debug_roots *roots, const char *path, debug_file_fn *fn,
                    void *ctx);
/* The same for the file that DEBUG_FOLDER has for a build ID, given in hexadecimal. */
int debug_roots_try_build_id(const struct debug_roots *roots, const char *build_id,
                             debug_file_fn *fn, void *ctx);
