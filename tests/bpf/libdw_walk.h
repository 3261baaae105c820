/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct libdw_walk - the stack of a stopped thread as elfutils walks it, for comparison.
 */
#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { LIBDW_MAX_FRAMES = 1024 };

struct libdw_frame {
	uint64_t pc;
	bool exact; /* the leaf, a signal frame, or a frame that a signal interrupted: not a return
	             * address */
};

struct libdw_stack {
	struct libdw_frame frames[LIBDW_MAX_FRAMES];
	size_t len;
	bool complete;   /* ended at an outermost frame, or at LIBDW_MAX_FRAMES */
	const char *why; /* libdw's message if not complete; static */
};

struct libdw_walk;

/* Reads the process's current mappings. NULL when that fails. */
struct libdw_walk *libdw_walk_new(pid_t pid);
void libdw_walk_free(struct libdw_walk *walk);
DEFINE_CLEANUP(struct libdw_walk *, libdw_walk_free)

/* The thread must be stopped by ptrace. */
void libdw_walk_thread(struct libdw_walk *walk, pid_t tid, struct libdw_stack *ret_stack);
/* The function at an address, or "". Valid until the next call. */
const char *libdw_walk_name(struct libdw_walk *walk, uint64_t address);
