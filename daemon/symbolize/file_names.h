/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct file_names - names for addresses in files: asks the reader process about those that nobody
 * has asked about before, all of a file's at once, and remembers the answers. Render lane only.
 */
#pragma once

#include "names/client.h"
#include "object/store.h"
#include "profile/builder.h"
#include "symbolize/known_files.h"
#include "symbolize/slow_names.h"

enum { MAX_LATE_OWNERS = 64 };

/* Users whose files were not read in time, who are waited for less: half as long each time, down to
 * nothing, and twice as long again every LATE_FORGOTTEN_NS. */
struct late_owner {
	uint32_t owner;
	unsigned int times; /* 0: a free place */
	uint64_t since_ns;
};

struct file_names {
	struct store *store;
	struct names_client *client;
	struct slow_names *slow; /* what is not read in time goes there */
	struct fetch *fetch;     /* NULL: no servers */
	struct late_owner owners[MAX_LATE_OWNERS];
	struct known_files files;
	size_t max_answer_bytes; /* of one file */
	/* Of the run under way. */
	size_t max_profile_bytes; /* a larger one gets no more names */
	uint64_t until_ns;        /* nothing is asked later */
	uint64_t check_ns;        /* left for checksums of debug files */
	uint64_t lost;            /* files that could not be read for their names */
	uint64_t late;            /* those whose names are not there yet */
};

/* Locations of one mapping that want names, by ascending address. */
struct wanted {
	uint32_t mapping, location;
	uint64_t address;
};

/* Gives each of them its lines. 0 or -ENOMEM. */
int file_names_add(struct file_names *names, struct builder *builder, const struct wanted *wanted,
                   size_t count);
