/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct live - a live process as both opinions see it: the walker's tables, made from the files it
 * maps by the daemon's own code, and libdw's.
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

/* Both stacks of a stopped thread. -ESRCH when the process has gone. */
int live_walk(struct live *live, const struct target *target, struct walker_result *ret_ours,
              struct libdw_stack *ret_libdw);
/* Where an address is: the file's name, its own address, the function. Strings live until the next
 * call; "" for what is not known. */
struct spot {
	const char *file, *function;
	u64 own;
};
struct spot live_spot(struct live *live, u64 address);
