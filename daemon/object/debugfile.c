/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * By build ID first, then by the name that .gnu_debuglink gives, beside the executable and below
 * the folder of debug files.
 */
#include "object/debugfile.h"

#include "base/bounds.h"
#include "object/reach.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DEBUG_FOLDER "/usr/lib/debug"

static int try_path(const struct object *object, const char *path, struct object **ret_debug)
{
	int fd = reach_regular(path, NULL);
	_cleanup_(object_unrefp) struct object *debug = NULL;
	int err;

	if (fd < 0)
		return fd;
	err = object_open_fd(fd, path, &debug);
	if (err)
		return err;
	if (strcmp(debug->build_id, object->build_id) != 0)
		return -ESTALE;
	*ret_debug = TAKE_PTR(debug);
	return 0;
}

static int try_build_id(const struct object *object, struct object **ret_debug)
{
	char path[MAX_PATH_BYTES];

	snprintf(path, sizeof(path), DEBUG_FOLDER "/.build-id/%.2s/%s.debug", object->build_id,
	         object->build_id + 2);
	return try_path(object, path, ret_debug);
}

static int try_link(const struct object *object, const char *name, struct object **ret_debug)
{
	const char *slash = strrchr(object->path, '/');
	int folder_len = slash ? (int)(slash - object->path) : 0;
	const char *const places[][2] = {{"", "/"}, {"", "/.debug/"}, {DEBUG_FOLDER, "/"}};
	char path[MAX_PATH_BYTES];

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%s%.*s%s%s", places[i][0], folder_len, object->path,
		         places[i][1], name);
		if (try_path(object, path, ret_debug) == 0)
			return 0;
	}
	return -ENOENT;
}

int debugfile_open(const struct object *object, struct object **ret_debug)
{
	struct elf_section link;
	int err;

	if (strlen(object->build_id) < 3)
		return -ENOENT;
	if (try_build_id(object, ret_debug) == 0)
		return 0;
	if (elf_read_section(object->elf, ".gnu_debuglink", MAX_PATH_BYTES, &link))
		return -ENOENT;
	/* A name that leads elsewhere is none. */
	if (!memchr(link.bytes, '\0', link.len) || !link.bytes[0] ||
	    strchr((const char *)link.bytes, '/'))
		err = -ENOENT;
	else
		err = try_link(object, (const char *)link.bytes, ret_debug);
	free(link.bytes);
	return err;
}
