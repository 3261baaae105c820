/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct told_files - the source files of functions that were named in a profile's slices, which
 * are those of interpreted code, by container. Each has a process that ran it, in whose root folder
 * the file is. Bounded: files that were in no profile for the longest time are forgotten first.
 * Render lane only.
 */
#pragma once

#include "profile/profile.h"
#include "symbolize/source_text.h"

#include <stdbool.h>

struct told_file;

struct told_files {
	struct told_file *by_name; /* hash table */
	struct told_file *by_use;  /* most recent first */
	size_t bytes, max_bytes;
};

void told_files_release(struct told_files *files);
/* Adds the files of every location that has a name. 0 or -ENOMEM. */
int told_files_note(struct told_files *files, const struct profile *profile);
/* Finds a process that ran the file when it was last in a profile: in the container with that id,
 * in none for "", or in any for NULL. With `is_hosts` only processes that see the host's file at
 * that path count, else only the others: a process with mounts of its own can put any file there.
 */
bool told_files_find(const struct told_files *files, const char *path, const char *container,
                     bool is_hosts, struct source_root *ret_root);
