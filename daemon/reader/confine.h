/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Irrevocably gives up everything that a reader process does not need: other descriptors, user,
 * groups, capabilities, unlimited memory, and files that it was not passed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct confinement {
	const char *name;        /* the process is shown as "profd-" and this */
	uint64_t max_bytes;      /* limit of memory, in addition to what it holds now */
	uint64_t niceness;       /* added to its current niceness */
	bool environment;        /* kept; otherwise cleared, or libdw could ask servers for files */
	bool opens_files;        /* may open files by name, to read them */
	bool loads_libraries;    /* with unknown needs: Landlock is not used */
	uint64_t max_file_bytes; /* of each file that is written */
	uint64_t max_threads;    /* of its user, besides its own first thread */
	unsigned int which_user; /* argument of user_pick() */
};

/* Keeps `socket`, and standard error, input and output as they are. 0, or the error that prevented
 * a restriction: the caller must not continue then. */
int confine(int socket, const struct confinement *to);
