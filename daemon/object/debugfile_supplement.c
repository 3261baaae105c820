/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * .gnu_debugaltlink: the supplement's path, and the bytes of its build ID. The path is the one at
 * the time it was made, so that known folders are looked at as well.
 */
#include "object/debugfile.h"
#include "base/bounds.h"
#include "object/debugfile_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SUPPLEMENT_FOLDER ".dwz/"

struct altlink {
	struct elf_section section;
	const char *path;
	const uint8_t *build_id;
	size_t build_id_len;
	int found;
};

static void altlink_release(struct altlink *link)
{
	free(link->section.bytes);
}

static int altlink_read(const struct object *object, struct altlink *link)
{
	struct elf_section *section = &link->section;

	if (elf_read_section(object->elf, ".gnu_debugaltlink", MAX_PATH_BYTES, section))
		return -ENOENT;
	const uint8_t *end = memchr(section->bytes, '\0', section->len);
	if (!end || end == section->bytes)
		return -ENOENT;
	link->path = (const char *)section->bytes;
	link->build_id = end + 1;
	link->build_id_len = section->len - (size_t)(link->build_id - section->bytes);
	return link->build_id_len > 1 && link->build_id_len <= MAX_BUILD_ID_BYTES ? 0 : -ENOENT;
}

static int check_file(int *fd, const char *path, void *ctx)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct altlink *link = ctx;
	size_t len;
	int err = elf_open_fd(*fd, &elf);

	(void)path;
	if (err < 0)
		return err;
	const uint8_t *build_id = elf_build_id(elf, &len);
	if (len != link->build_id_len || memcmp(build_id, link->build_id, len) != 0)
		return -ESTALE;
	link->found = TAKE_FD(*fd);
	return 0;
}

/* As it stands or, when it is relative, from the folder of the file that names it. */
static int try_path(const struct debug_roots *roots, const struct object *object,
                    struct altlink *link)
{
	const char *slash = strrchr(object->path, '/');
	int folder_len = slash && link->path[0] != '/' ? (int)(slash + 1 - object->path) : 0;
	char path[MAX_PATH_BYTES];
	int len = snprintf(path, sizeof(path), "%.*s%s", folder_len, object->path, link->path);

	if (len < 0 || (size_t)len >= sizeof(path) || path[0] != '/')
		return -ENOENT;
	return debug_roots_try(roots, path, check_file, link);
}

static int try_folder(const struct debug_roots *roots, struct altlink *link)
{
	const char *below = strstr(link->path, "/" SUPPLEMENT_FOLDER);
	const char *slash = strrchr(link->path, '/');
	const char *name = slash ? slash + 1 : link->path;
	char path[MAX_PATH_BYTES];

	if (below)
		name = below + strlen("/" SUPPLEMENT_FOLDER);
	int len = snprintf(path, sizeof(path), DEBUG_FOLDER "/" SUPPLEMENT_FOLDER "%s", name);
	if (len < 0 || (size_t)len >= sizeof(path))
		return -ENOENT;
	return debug_roots_try(roots, path, check_file, link);
}

static int try_build_id(const struct debug_roots *roots, struct altlink *link)
{
	char digits[2 * MAX_BUILD_ID_BYTES + 1];

	for (size_t i = 0; i < link->build_id_len; i++)
		snprintf(digits + 2 * i, sizeof(digits) - 2 * i, "%02x", link->build_id[i]);
	return debug_roots_try_build_id(roots, digits, check_file, link);
}

int debugfile_open_supplement(const struct object *object)
{
	_cleanup_(debug_roots_release) struct debug_roots roots = {0};
	_cleanup_(altlink_release) struct altlink link = {0};
	int err = altlink_read(object, &link);

	if (err < 0)
		return err;
	debug_roots_init(&roots, object->pid);
	err = try_path(&roots, object, &link);
	if (err < 0)
		err = try_folder(&roots, &link);
	if (err < 0)
		err = try_build_id(&roots, &link);
	return err < 0 ? err : link.found;
}
