/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct turns - how much of what is done one after the other was done for whom lately: who had
 * least is next, so that one for whom it takes long waits behind the others, not they behind him.
 * Half of it is forgotten every half a minute. It knows those who had most. Start with zeroes.
 * Owned by one thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { TURNS_KEPT = 16 };

struct turns {
	struct {
		uint64_t owner, used_ns; /* used: 0 for nobody */
	} accounts[TURNS_KEPT];
	uint64_t aged_ns;
};

void turns_note(struct turns *turns, uint64_t owner, uint64_t took_ns);
uint64_t turns_used(const struct turns *turns, uint64_t owner);
/* It is so late now, CLOCK_MONOTONIC. */
void turns_age(struct turns *turns, uint64_t now_ns);
