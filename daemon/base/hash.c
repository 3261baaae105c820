/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One number at random, drawn when it is asked for first.
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
	/* One that could not be had only makes collisions easier to choose. */
	if (getrandom(&drawn, sizeof(drawn), GRND_NONBLOCK) != (ssize_t)sizeof(drawn))
		drawn = (uintptr_t)&drawn ^ clock_mono_ns();
	drawn |= 1;
	/* Of several threads the first. */
	__atomic_compare_exchange_n(&seed, &none, drawn, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return none ?: drawn;
}
