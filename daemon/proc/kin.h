/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct kin - who started whom, of processes that have ended: as long as samples of a process are
 * kept, its ancestors are known though they are gone. One that has started others is remembered
 * when it ends, and forgotten MAX_CAPTURE_SECONDS later, unless something that lives, or is
 * remembered, descends from it. Bounded; loop thread only.
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
	struct ended_process *ended; /* in the order in which they were told */
	size_t count, capacity;
	uint64_t settled_mono_ns;
	uint64_t dropped; /* for lack of room */
};

void kin_release(struct kin *kin);
void kin_remember(struct kin *kin, const struct ended_process *ended);
/* Whether it is time for kin_settle(): once a minute, and when there is no room left. */
bool kin_is_due(const struct kin *kin, uint64_t now_mono_ns);
/* Forgets what nobody can ask for any more. `needed` has a bit of each process from which one that
 * lives descends, and is changed; KIN_NEEDED_BYTES. Where that makes no room, the oldest go. */
enum { KIN_NEEDED_BYTES = (1 << 22) / 8 + 1 };
void kin_settle(struct kin *kin, uint8_t *needed, uint64_t now_mono_ns);
void kin_need(uint8_t *needed, uint32_t pid);
