/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct known_files - the names found for addresses in files, so that each address is asked about
 * once. The key is the object's id, which is never reused, so entries outlive the open file.
 * Bounded: the file that was used longest ago is forgotten first. Render lane only.
 */
#pragma once

#include "profile/builder.h"
#include "symbolize/debug_files.h"
#include "base/table.h"

struct known_file {
	uint64_t id; /* identifies the file's data to the reader process; never reused */
	/* The process in whose root folder the source files are, and that folder. */
	uint32_t pid;
	struct root_id root;
	bool is_hosts; /* the process saw the host's files there: reach_sees_hosts() */
	struct debug_files debug;
	bool slow; /* was once not read in time: asked about by slow_names from then on */
	/* A profile without samples: it has a location for each address that was asked about, with
	 * the frames as its lines. A location for which nothing was found has the single line
	 * NOTHING_KNOWN. */
	struct builder *answers;

	/* Private to known_files.c. */
	uint32_t object;
	struct known_file *prev, *next; /* by use, least recent first */
	UT_hash_handle hh;
};

struct known_files {
	size_t max_bytes;
	uint64_t last_id;
	struct known_file *by_object, *by_use;
};

void known_files_release(struct known_files *files);
/* The entry of an object, added when there is none. It is valid until the next known_files_trim().
 * NULL when out of memory. */
struct known_file *known_files_get(struct known_files *files, uint32_t object);
/* Forgets the names, because the debug files have changed. 0 or -ENOMEM. */
int known_file_reset(struct known_files *files, struct known_file *file);
/* Forgets entries until the bound is met. */
void known_files_trim(struct known_files *files);
size_t known_files_memory(const struct known_files *files);
/* A file whose names include this text and whose `is_hosts` is the given one; NULL: none. */
const struct known_file *known_files_with(const struct known_files *files, const char *text,
                                          bool is_hosts);
