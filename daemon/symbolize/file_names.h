/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct file_names - names for addresses in files: asks the reader process about the addresses
 * that are not known yet, all of a file's at once, and remembers the answers. Render lane only.
 */
#pragma once

#include "names/client.h"
#include "object/store.h"
#include "profile/builder.h"
#include "symbolize/known_files.h"
#include "symbolize/late_users.h"
#include "symbolize/slow_names.h"

struct file_names {
	struct store *store;
	struct names_client *client;
	struct slow_names *slow; /* for files that are not read in time */
	struct fetch *fetch;     /* NULL: no debuginfod servers */
	struct aside *aside;     /* opens the files of users */
	struct late_users late_users;
	struct known_files files;
	size_t max_answer_bytes; /* for one file */
	/* Of the current run. */
	size_t max_profile_bytes; /* a larger profile gets no more names */
	uint64_t until_ns;        /* no file is asked about later */
	uint64_t check_ns;        /* time left for checksums of debug files */
	uint64_t lost;            /* files whose names could not be read */
	uint64_t late;            /* files whose names are not ready yet */
};

/* A location that needs names; those of one mapping are sorted by address. */
struct wanted {
	uint32_t mapping, location;
	uint64_t address;
};

/* Orders them by mapping, then by address, for qsort(). */
static inline int wanted_compare(const void *left, const void *right)
{
	const struct wanted *a = left, *b = right;

	if (a->mapping != b->mapping)
		return a->mapping < b->mapping ? -1 : 1;
	return (a->address > b->address) - (a->address < b->address);
}

/* Adds the lines of each location. 0 or -ENOMEM. */
int file_names_add(struct file_names *names, struct builder *builder, const struct wanted *wanted,
                   size_t count);
