/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The debug files of a container are in the container, or on the host if its image was made from
 * the same packages.
 */
#include "object/debugfile_private.h"

#include "base/clock.h"
#include "object/path.h"
#include "object/reach.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The first byte names the folder; at least one more must name the file. */
enum { MIN_BUILD_ID_DIGITS = 4 };

/* For a path's folders and links, which cost a few system calls each. */
static const uint64_t patience_ns = 100 * NSEC_PER_MSEC;

static bool is_root(int fd, const struct root_id *root)
{
	struct stat st;

	return fd >= 0 && root->inode && fstat(fd, &st) == 0 && st.st_dev == root->device &&
	       st.st_ino == root->inode;
}

void debug_roots_init(struct debug_roots *roots, const struct object *object)
{
	_cleanup_close_ int other = object->pid ? reach_root(object->pid) : -ENOENT;

	roots->count = 0;
	if (is_root(other, &object->root))
		roots->fds[roots->count++] = TAKE_FD(other);
	roots->fds[roots->count++] = -1;
}

void debug_roots_release(struct debug_roots *roots)
{
	for (size_t i = 0; i < roots->count; i++) {
		if (roots->fds[i] >= 0)
			close(roots->fds[i]);
	}
}

/* A file says where its debug files are: below folders that a user's program serves, too. */
static int open_own(const char *path)
{
	const struct path_root own = {
		.path = "/",
		.until_ns = clock_mono_ns() + patience_ns,
		.is_for_daemon = true,
	};
	int fd, err = path_open(&own, path, &fd);

	return err ? err : fd;
}

int debug_roots_try(const struct debug_roots *roots, const char *path, debug_file_fn *fn, void *ctx)
{
	for (size_t i = 0; i < roots->count; i++) {
		_cleanup_close_ int fd = roots->fds[i] >= 0 ? reach_below(roots->fds[i], path, NULL)
		                                            : open_own(path);
		if (fd >= 0 && fn(&fd, path, ctx) == 0)
			return 0;
	}
	return -ENOENT;
}

int debug_roots_try_build_id(const struct debug_roots *roots, const char *build_id,
                             debug_file_fn *fn, void *ctx)
{
	char path[MAX_PATH_BYTES];

	if (strlen(build_id) < MIN_BUILD_ID_DIGITS)
		return -ENOENT;
	snprintf(path, sizeof(path), DEBUG_FOLDER "/.build-id/%.2s/%s.debug", build_id,
	         build_id + 2);
	return debug_roots_try(roots, path, fn, ctx);
}
