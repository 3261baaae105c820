/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One random number, drawn at the first call.
 */
#include "base/hash.h"

#include "base/clock.h"

#include <stdbool.h>
#include <sys/random.h>

uint64_t hash_seed(void)
{
	static uint64_t seed;
	uint64_t drawn = __atomic_load_n(&seed, __ATOMIC_RELAXED), none = 0;

	if (drawn)
		return drawn;
	/* Without a random number, collisions are only easier to choose. */
	if (getrandom(&drawn, sizeof(drawn), GRND_NONBLOCK) != (ssize_t)sizeof(drawn))
		drawn = (uintptr_t)&drawn ^ clock_mono_ns();
	drawn |= 1;
	/* When several threads draw at once, the number of the first is used. */
	__atomic_compare_exchange_n(&seed, &none, drawn, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return none ?: drawn;
}
