/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct live - a live process as both walks see it: the walker's tables, which the daemon's code
 * makes from the files that the process maps, and libdw's view.
 */
#pragma once

#include "base/cleanup.h"
#include "tests/bpf/libdw_walk.h"
#include "tests/bpf/target.h"
#include "tests/bpf/walker.h"

struct live;

struct live *live_new(pid_t pid); /* NULL when out of memory */
void live_free(struct live *live);
DEFINE_CLEANUP(struct live *, live_free)

/* Both stacks of a stopped thread. -ESRCH when the process has ended. */
int live_walk(struct live *live, const struct target *target, struct walker_result *ret_ours,
              struct libdw_stack *ret_libdw);
/* Where an address is: the file's name, the address in the file's own terms, the function. "" for
 * what is not known. Strings are valid until the next call. */
struct spot {
	const char *file, *function;
	u64 own;
};
struct spot live_spot(struct live *live, u64 address);
