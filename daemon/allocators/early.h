/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct early - frees that arrived before the allocations that they end. They are few, and soon
 * gone: a free that has waited for a second waits for an allocation that was lost. Owned by one
 * thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_EARLY = 512 };

struct early {
	size_t count;
	uint64_t given_up; /* frees dropped without an allocation */
	struct {
		uint64_t address, time_ns;
	} frees[MAX_EARLY];
};

/* Adds a free. When there is no room, the oldest one is dropped. */
void early_add(struct early *early, uint64_t address, uint64_t time_ns);
/* Whether memory allocated at that address and time was freed already: by the first free after that
 * time, which is used up. */
bool early_take(struct early *early, uint64_t address, uint64_t time_ns);
