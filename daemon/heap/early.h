/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct early - frees that came before the allocation that they end was told of. Few, and soon
 * gone: what has waited for a second waits for something that was lost. Owned by one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_EARLY = 512 };

struct early {
	size_t count;
	uint64_t given_up; /* without an allocation */
	struct {
		uint64_t address, time_ns;
	} frees[MAX_EARLY];
};

/* When there is no room the oldest one goes. */
void early_add(struct early *early, uint64_t address, uint64_t time_ns);
/* Whether something allocated at that address and time was freed already: by the first free after
 * it, which is used up. */
bool early_take(struct early *early, uint64_t address, uint64_t time_ns);
