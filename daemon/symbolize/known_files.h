/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct known_files - what was found out about files' addresses, so that a file is asked about an
 * address once. By the object's id, which is never reused, so it outlives the file being open.
 * Bounded: the file that was asked about longest ago is forgotten first. Render lane only.
 */
#pragma once

#include "profile/builder.h"
#include "symbolize/debug_files.h"
#include "base/table.h"

struct known_file {
	uint64_t id; /* names what is known about it to the reader process; never reused */
	/* In whose root folder its source files are, and that folder. */
	uint32_t pid;
	struct root_id root;
	bool is_hosts; /* the process saw there what the host does: reach_sees_hosts() */
	struct debug_files debug;
	bool slow; /* was once not read in time: asked about where nobody waits for it */
	/* A profile without samples: a location for each address that was asked about, whose lines
	 * are its frames. One without any has the one line NOTHING_KNOWN. */
	struct builder *answers;

	/* known_files.c's */
	uint32_t object;
	struct known_file *prev, *next; /* by use, the longest ago first */
	UT_hash_handle hh;
};

struct known_files {
	size_t max_bytes;
	uint64_t last_id;
	struct known_file *by_object, *by_use;
};

void known_files_release(struct known_files *files);
/* The entry of a build ID, or of an object without one; made when there is none. It stays until the
 * next known_files_trim(). NULL when out of memory. */
struct known_file *known_files_get(struct known_files *files, uint32_t object);
/* Forgets what was known: other files are at hand now. 0 or -ENOMEM. */
int known_file_reset(struct known_files *files, struct known_file *file);
/* Back to the bound. */
void known_files_trim(struct known_files *files);
size_t known_files_memory(const struct known_files *files);
/* The file in which this text is a name, and which is the host's or is not, or NULL. */
const struct known_file *known_files_with(const struct known_files *files, const char *text,
                                          bool is_hosts);
