/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct pid_set - pids, each once, in the order in which they were added. Beyond its limit it only
 * records that there were more.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pid_set {
	uint64_t *known; /* one bit per pid; only the pages of pids in use are ever touched */
	uint32_t *pids;
	size_t count, limit;
	bool overflown;
};

int pid_set_init(struct pid_set *set, size_t limit); /* -ENOMEM */
void pid_set_release(struct pid_set *set);
void pid_set_add(struct pid_set *set, uint32_t pid);
/* Removes and returns the pid that was added last; 0 when there is none. */
uint32_t pid_set_take(struct pid_set *set);
/* Calls fn() for pids that it takes out, for PID_SET_PIECE_MS: processes are many, and each may
 * have many mappings. True when some are left; the caller goes on after a rest of the same length.
 */
enum { PID_SET_PIECE_MS = 5 };
typedef void pid_set_fn(uint32_t pid, void *ctx);
bool pid_set_take_some(struct pid_set *set, pid_set_fn *fn, void *ctx);
/* Adds all of `from` to `to` and empties it; true when there had been more. */
bool pid_set_move(struct pid_set *from, struct pid_set *to);
