/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What several readers and writers of files and folders need. Any thread that may wait for a file
 * system.
 */
#pragma once

#include <dirent.h>
#include <stddef.h>

/* Opens a folder for reading its entries; `path` is below the folder `at`. NULL, and errno is set.
 */
DIR *folder_open(int at, const char *path);

static inline void closedirp(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}

/* 0 or a negative errno; then a part may have been written. */
int write_all(int fd, const void *bytes, size_t len);
