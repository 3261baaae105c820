/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Files for a store to open, in a temporary folder.
 */
#pragma once

#include "tests/unit/elf_image.h"
#include "tests/unit/open_mapped.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static char folder[64];

static inline void make_folder(void)
{
	strcpy(folder, "/tmp/profd-store-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static inline void remove_folder(void)
{
	char path[128];

	for (int i = 0; i < 8; i++) {
		snprintf(path, sizeof(path), "%s/%d", folder, i);
		unlink(path);
	}
	rmdir(folder);
}

/* Makes the file FOLDER/number: an image with that seed, or a script if the seed is negative. */
static inline const char *make_file(int number, int seed, struct file_key *ret_key)
{
	static char path[128];
	struct elf_image image;
	struct stat st;

	elf_image_init(&image, (uint8_t)seed);
	if (seed < 0)
		strcpy((char *)&image, "#!/bin/sh\n");
	snprintf(path, sizeof(path), "%s/%d", folder, number);
	unlink(path);
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, &image, sizeof(image)), sizeof(image));
	ck_assert_int_eq(fstat(fd, &st), 0);
	*ret_key = (struct file_key){
		.major = major(st.st_dev),
		.minor = minor(st.st_dev),
		.inode = st.st_ino,
		.generation = (uint64_t)number + 1,
	};
	return path;
}

static inline const struct object *open_path(struct store *store, const struct file_key *key,
                                             const char *path)
{
	return open_mapped(store, key, 0, 0, path);
}

/* The same on behalf of a user. */
static inline const struct object *open_path_as(struct store *store, uint32_t user,
                                                const struct file_key *key, const char *path)
{
	return open_place(store, key,
	                  &(struct place){.pid = (uint32_t)getpid(),
	                                  .user = user,
	                                  .file = {key->major, key->minor, key->inode},
	                                  .path = path});
}
