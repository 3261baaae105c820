/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The debug file is looked for by build ID first, then by the name that .gnu_debuglink gives,
 * beside the executable and below the folder of debug files.
 */
#include "object/debugfile.h"
#include "base/bounds.h"
#include "base/clock.h"
#include "object/debugfile_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

enum { CHUNK_BYTES = 64 * 1024 };

/* A larger file is not read only for its checksum. */
static const uint64_t max_checked_bytes = 256ULL << 20;

struct wanted {
	const struct object *object;
	const struct links *links;   /* NULL: the search is by build ID */
	struct debug_checks *checks; /* NULL: time is unlimited */
	bool unfinished;             /* time ran out for a checksum */
	struct object *found;
};

static bool is_of(const struct debug_check *check, const struct stat *st)
{
	return check->device == st->st_dev && check->inode == st->st_ino &&
	       check->size == (uint64_t)st->st_size &&
	       check->changed.tv_sec == st->st_mtim.tv_sec &&
	       check->changed.tv_nsec == st->st_mtim.tv_nsec;
}

static struct debug_check *check_of(struct debug_checks *checks, const struct stat *st)
{
	struct debug_check *check;

	for (size_t i = 0; i < MAX_DEBUG_CHECKS; i++) {
		if (is_of(&checks->files[i], st))
			return &checks->files[i];
	}
	check = &checks->files[checks->next++ % MAX_DEBUG_CHECKS];
	*check = (struct debug_check){.device = st->st_dev,
	                              .inode = st->st_ino,
	                              .size = (uint64_t)st->st_size,
	                              .changed = st->st_mtim};
	return check;
}

/* 0: the sum covers the whole file. -EAGAIN: time ran out. */
static int sum_until(int fd, struct debug_check *check, uint64_t until_ns)
{
	_cleanup_free_ uint8_t *bytes = malloc(CHUNK_BYTES);
	ssize_t len;

	if (!bytes)
		return -ENOMEM;
	while (check->at < check->size) {
		if (clock_mono_ns() >= until_ns)
			return -EAGAIN;
		len = pread(fd, bytes, CHUNK_BYTES, (off_t)check->at);
		if (len <= 0)
			return -EIO;
		check->sum = (uint32_t)crc32(check->sum, bytes, (uInt)len);
		check->at += (uint64_t)len;
	}
	return 0;
}

static bool has_checksum(int fd, struct wanted *wanted)
{
	uint64_t begun = clock_mono_ns(), left = wanted->checks ? wanted->checks->left_ns : 0, used;
	struct debug_checks none = {0};
	struct debug_check *check;
	struct stat st;
	int err;

	if (fstat(fd, &st) < 0 || (uint64_t)st.st_size > max_checked_bytes)
		return false;
	check = check_of(wanted->checks ?: &none, &st);
	err = sum_until(fd, check, wanted->checks ? begun + left : UINT64_MAX);
	used = clock_mono_ns() - begun;
	if (wanted->checks)
		wanted->checks->left_ns = used < left ? left - used : 0;
	wanted->unfinished = err == -EAGAIN;
	return !err && check->sum == wanted->links->checksum;
}

/* A link may give the name of the executable itself, and the search beside the executable then
 * finds the executable. */
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
	if (!debug_owner_counts(object, debug->owner))
		return -EPERM;
	if (!object->build_id[0] &&
	    !(wanted->links && wanted->links->has_checksum && has_checksum(debug->fd, wanted)))
		/* Stop at an unfinished checksum, so that the next call continues there and starts
		 * no other one. */
		return wanted->unfinished ? 0 : -ESTALE;
	debug->user = object->user;
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

int debugfile_open_some(const struct object *object, const struct links *links,
                        struct debug_checks *checks, struct object **ret_debug)
{
	_cleanup_(debug_roots_release) struct debug_roots roots = {0};
	struct wanted wanted = {.object = object, .checks = checks};
	size_t digits = strlen(object->build_id);

	/* A build ID of one byte does not identify a file. */
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
	return wanted.unfinished ? -EAGAIN : 0;
}
