/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct told_files - source files of functions that came with a profile's slices, those of
 * interpreted code, in each container that runs them, and a process that does: in whose root folder
 * the file is. Bounded: those that were in no profile for longest are forgotten first. Render lane
 * only.
 */
#pragma once

#include "profile/profile.h"
#include "symbolize/source_text.h"

#include <stdbool.h>

struct told_file;

struct told_files {
	struct told_file *by_name; /* hash */
	struct told_file *by_use;  /* the latest first */
	size_t bytes, max_bytes;
};

void told_files_release(struct told_files *files);
/* Takes the files of every location that has a name. 0 or -ENOMEM. */
int told_files_note(struct told_files *files, const struct profile *profile);
/* A process that ran it when it was last in a profile: in a container of that id, "" being none, or
 * anywhere where it is NULL. Of those alone that see at that path what the host does, or of the
 * others: who mounts for himself puts there what he likes. */
bool told_files_find(const struct told_files *files, const char *path, const char *container,
                     bool is_hosts, struct source_root *ret_root);
