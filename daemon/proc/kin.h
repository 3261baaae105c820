/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct kin - the parents of processes that have ended: as long as samples of a process are kept,
 * its ancestors are known even after they ended. A process that has started others is remembered
 * when it ends, and forgotten MAX_CAPTURE_SECONDS later, unless a living or remembered process
 * descends from it. Bounded; loop thread only.
 */
#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ended_process {
	uint32_t parent, pid;
	uint64_t end_mono_ns;
};

struct kin {
	struct ended_process *ended; /* in the order of kin_remember() */
	size_t count, capacity;
	uint64_t settled_mono_ns;
	uint64_t dropped; /* for lack of room */
};

void kin_release(struct kin *kin);
void kin_remember(struct kin *kin, const struct ended_process *ended);
/* Whether it is time for kin_settle(): once a minute, and when there is no room left. */
bool kin_is_due(const struct kin *kin, uint64_t now_mono_ns);
/* Forgets processes that no request can refer to any more. `needed`, of KIN_NEEDED_BYTES, has a bit
 * set for each process that is a parent of one in the process table, and is changed. When too many
 * remain, the oldest are dropped. */
enum { KIN_NEEDED_BYTES = (1 << 22) / 8 + 1 };
void kin_settle(struct kin *kin, uint8_t *needed, uint64_t now_mono_ns);
void kin_need(uint8_t *needed, uint32_t pid);
