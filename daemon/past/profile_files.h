/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct profile_files - profiles as files of a directory. Their names are
 * profd-HOST-KIND-20261127T204600.123Z.SUFFIX, with the time when the profile begins. Only files
 * with such a name and this host's are ever removed, so hosts of different names can share a
 * directory. A file gets its name when it is whole and on the disk. No state; any thread that may
 * wait for a disk, one at a time for putting.
 */
#pragma once

#include "base/buf.h"

/* A profile of one kind of an interval. */
struct profile_file {
	const char *host, *kind;
	const char *suffix; /* with its dots */
	uint64_t start_unix_ns;
	const void *bytes;
	size_t len;
};

/* Removes the oldest profiles until all together have at most `max_bytes`. 0 or a negative errno;
 * -EFBIG if the profile alone is too large. */
int profile_files_put(const char *place, uint64_t max_bytes, const struct profile_file *file);

enum {
	PROFILE_KIND_BYTES = 24,
	/* All of them are listed for each new one. A year of minutes has about as many, of one
	 * kind. */
	MAX_PROFILE_FILES = 500 * 1000,
};

struct profile_found {
	char kind[PROFILE_KIND_BYTES];
	uint64_t start_unix_ns; /* to the millisecond */
	uint64_t bytes;
};

/* The profiles of a host in a directory, the oldest first. */
struct profile_files {
	const char *host, *suffix; /* the caller's */
	int folder;
	struct buf found; /* struct profile_found, one after the other */
	uint64_t bytes;   /* of all */
};

/* A directory that does not exist has none. The caller releases the files in any case. */
int profile_files_list(const char *place, const char *host, const char *suffix,
                       struct profile_files *files);
void profile_files_release(struct profile_files *files);
/* The next one of a kind; NULL: there is no other. `previous` may be NULL. */
const struct profile_found *profile_files_next(const struct profile_files *files, const char *kind,
                                               const struct profile_found *previous);
/* Appends the bytes of one; -EFBIG over `max`, -EPERM if another user made it. */
int profile_files_read(const struct profile_files *files, const struct profile_found *found,
                       size_t max, struct buf *bytes);
