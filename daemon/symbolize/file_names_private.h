/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct naming - the part of a run that concerns one file: what is wanted, and what is known.
 * Shared by the files that implement struct file_names. Render lane only.
 */
#pragma once

#include "symbolize/file_names.h"

struct naming {
	struct file_names *names;
	struct builder *builder;
	const struct wanted *wanted;
	size_t count;
	const struct object *object;
	const char *path; /* the file's */
	bool are_locks;   /* what is wanted is the names of variables */
	struct known_file *file;
	uint32_t *answers;    /* indexed like `wanted`: the location in file->answers */
	uint32_t *functions;  /* the profile's functions, indexed by the file's */
	uint64_t *addresses;  /* those not known yet, ascending */
	uint32_t *unanswered; /* indexed like `addresses`: the location in file->answers */
	size_t unanswered_count;
};

/* Gives the profile's locations the answers of the file. 0 or -ENOMEM. */
int naming_copy_answers(struct naming *naming);
/* Names the locations after the file and their addresses, as when nothing is known of them. */
void naming_copy_places(struct naming *naming);
