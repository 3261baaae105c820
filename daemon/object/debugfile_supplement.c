/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * .gnu_debugaltlink holds the supplement's path and the bytes of its build ID. The path is from the
 * time when the debug file was made, so known folders are tried as well.
 */
#include "object/debugfile.h"
#include "base/bounds.h"
#include "object/debugfile_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define SUPPLEMENT_FOLDER ".dwz/"

struct search {
	const struct object *object; /* whose supplement it is */
	const struct links *links;
	int found;
};

static int check_file(int *fd, const char *path, void *ctx)
{
	_cleanup_(elf_freep) struct elf *elf = NULL;
	struct search *search = ctx;
	struct stat st;
	size_t len;

	(void)path;
	if (fstat(*fd, &st))
		return -errno;
	if (!debug_owner_counts(search->object, st.st_uid))
		return -EPERM;
	int err = elf_open_fd(*fd, &elf);
	if (err < 0)
		return err;
	const uint8_t *build_id = elf_build_id(elf, &len);
	if (len != search->links->supplement_id_len ||
	    memcmp(build_id, search->links->supplement_id, len) != 0)
		return -ESTALE;
	search->found = TAKE_FD(*fd);
	return 0;
}

/* Tries the path as it is. A relative path starts at the folder of the file that names it. */
static int try_path(const struct debug_roots *roots, const struct object *object,
                    struct search *search)
{
	const char *slash = strrchr(object->path, '/');
	int folder_len =
		slash && search->links->supplement[0] != '/' ? (int)(slash + 1 - object->path) : 0;
	char path[MAX_PATH_BYTES];
	int len = snprintf(path, sizeof(path), "%.*s%s", folder_len, object->path,
	                   search->links->supplement);

	if (len < 0 || (size_t)len >= sizeof(path) || path[0] != '/')
		return -ENOENT;
	return debug_roots_try(roots, path, check_file, search);
}

static int try_folder(const struct debug_roots *roots, struct search *search)
{
	const char *below = strstr(search->links->supplement, "/" SUPPLEMENT_FOLDER);
	const char *slash = strrchr(search->links->supplement, '/');
	const char *name = slash ? slash + 1 : search->links->supplement;
	char path[MAX_PATH_BYTES];

	if (below)
		name = below + strlen("/" SUPPLEMENT_FOLDER);
	int len = snprintf(path, sizeof(path), DEBUG_FOLDER "/" SUPPLEMENT_FOLDER "%s", name);
	if (len < 0 || (size_t)len >= sizeof(path))
		return -ENOENT;
	return debug_roots_try(roots, path, check_file, search);
}

static int try_build_id(const struct debug_roots *roots, struct search *search)
{
	const struct links *links = search->links;
	char digits[2 * MAX_BUILD_ID_BYTES + 1];

	for (size_t i = 0; i < links->supplement_id_len; i++)
		snprintf(digits + 2 * i, sizeof(digits) - 2 * i, "%02x", links->supplement_id[i]);
	return debug_roots_try_build_id(roots, digits, check_file, search);
}

int debugfile_open_supplement(const struct object *object, const struct links *links)
{
	_cleanup_(debug_roots_release) struct debug_roots roots = {0};
	struct search search = {.object = object, .links = links};

	if (!links->supplement_id_len || !links->supplement[0])
		return -ENOENT;
	debug_roots_init(&roots, object);
	int err = try_path(&roots, object, &search);
	if (err < 0)
		err = try_folder(&roots, &search);
	if (err < 0)
		err = try_build_id(&roots, &search);
	return err < 0 ? err : search.found;
}
