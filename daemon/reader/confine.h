/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Giving up, for good, all that a reader process does not need: other descriptors, user, groups,
 * capabilities, memory without end, files that it was not handed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct confinement {
	const char *name;        /* lists of processes show "profd-" and this */
	uint64_t max_bytes;      /* of memory that the process may hold more than it does now */
	uint64_t niceness;       /* added to what it has */
	bool environment;        /* stays; else it would let libdw ask servers for files */
	bool opens_files;        /* by name, to read them */
	bool loads_libraries;    /* that do what nobody knows: Landlock is not for it */
	uint64_t max_file_bytes; /* of each file that is written */
	uint64_t max_threads;    /* of its user beside its own first one */
	unsigned int which_user; /* of those that user_pick() knows */
};

/* Leaves `socket`, standard error and what standard input and output are. 0, or why something could
 * not be given up: then do not go on. */
int confine(int socket, const struct confinement *to);
