/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * By build ID first, then by the name that .gnu_debuglink gives, beside the executable and below
 * the folder of debug files.
 */
#include "object/debugfile.h"
#include "base/bounds.h"
#include "object/debugfile_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

enum { CHUNK_BYTES = 64 * 1024 };

/* A larger file is not read for its checksum alone. */
static const uint64_t max_checked_bytes = 256ULL << 20;

struct wanted {
	const struct object *object;
	const struct links *links; /* NULL: looked for by build ID */
	struct object *found;
};

static bool has_checksum(int fd, uint32_t wanted)
{
	_cleanup_free_ uint8_t *bytes = malloc(CHUNK_BYTES);
	uLong checksum = crc32(0, NULL, 0);
	struct stat st;
	ssize_t len;

	if (!bytes || fstat(fd, &st) < 0 || (uint64_t)st.st_size > max_checked_bytes)
		return false;
	for (off_t at = 0; at < st.st_size; at += len) {
		len = pread(fd, bytes, CHUNK_BYTES, at);
		if (len <= 0)
			return false;
		checksum = crc32(checksum, bytes, (uInt)len);
	}
	return checksum == wanted;
}

/* A link may have the name of the executable itself, which is found beside itself. */
static bool is_same_file(const struct object *object, int fd)
{
	struct stat own, other;

	return object->fd >= 0 && fstat(object->fd, &own) == 0 && fstat(fd, &other) == 0 &&
	       own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

static int check_file(int *fd, const char *path, void *ctx)
{
	struct wanted *wanted = ctx;
	const struct object *object = wanted->object;
	_cleanup_(object_unrefp) struct object *debug = NULL;

	if (is_same_file(object, *fd))
		return -ESTALE;
	int err = object_open_fd(TAKE_FD(*fd), path, &debug);
	if (err < 0)
		return err;
	if (strcmp(debug->build_id, object->build_id) != 0)
		return -ESTALE;
	/* What is in a root of somebody's own making says nothing about the files of others. */
	if (debug->owner != 0 && debug->owner != object->owner)
		return -EPERM;
	if (!object->build_id[0] && !(wanted->links && wanted->links->has_checksum &&
	                              has_checksum(debug->fd, wanted->links->checksum)))
		return -ESTALE;
	debug->pid = object->pid;
	debug->root = object->root;
	wanted->found = TAKE_PTR(debug);
	return 0;
}

static int try_link(const struct debug_roots *roots, struct wanted *wanted)
{
	const char *program = wanted->object->path, *slash = strrchr(program, '/');
	int folder_len = slash ? (int)(slash - program) : 0;
	const char *const places[][2] = {{"", "/"}, {"", "/.debug/"}, {DEBUG_FOLDER, "/"}};
	char path[MAX_PATH_BYTES];

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		int len = snprintf(path, sizeof(path), "%s%.*s%s%s", places[i][0], folder_len,
		                   program, places[i][1], wanted->links->debug_name);
		if (len > 0 && (size_t)len < sizeof(path) &&
		    debug_roots_try(roots, path, check_file, wanted) == 0)
			return 0;
	}
	return -ENOENT;
}

int debugfile_open(const struct object *object, const struct links *links,
                   struct object **ret_debug)
{
	_cleanup_(debug_roots_release) struct debug_roots roots = {0};
	struct wanted wanted = {.object = object};
	size_t digits = strlen(object->build_id);

	/* A single byte is no build ID, and tells nothing apart. */
	if (digits && digits < 4)
		return -ENOENT;
	debug_roots_init(&roots, object);
	int err = debug_roots_try_build_id(&roots, object->build_id, check_file, &wanted);
	if (err < 0 && links->debug_name[0]) {
		wanted.links = links;
		err = try_link(&roots, &wanted);
	}
	if (err < 0)
		return err;
	*ret_debug = wanted.found;
	return 0;
}
