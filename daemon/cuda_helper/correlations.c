/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cuda_helper/correlations.h"

#include <stdbool.h>

static uint64_t load(const uint64_t *place)
{
	return __atomic_load_n(place, __ATOMIC_ACQUIRE);
}

/* The place for a number, and what it contains. Numbers of other threads may be ahead. */
static uint64_t *place_for(uint64_t *set, uint32_t number, uint64_t *ret_was)
{
	uint64_t *oldest = set;
	int32_t oldest_age = INT32_MIN;

	*ret_was = load(set);
	for (int i = 0; i < CORRELATION_WAYS; i++) {
		uint64_t place = load(&set[i]);
		int32_t age = (int32_t)(number - (uint32_t)(place >> 32));

		if (place && age <= oldest_age)
			continue;
		oldest = &set[i];
		oldest_age = age;
		*ret_was = place;
		if (!place)
			break;
	}
	return oldest;
}

/* Another thread may take the same place at the same time. */
void correlations_add(struct correlations *correlations, uint32_t number, uint32_t weight)
{
	uint64_t *set = correlations->places[number % CORRELATION_SETS], *place, was;

	do
		place = place_for(set, number, &was);
	while (!__atomic_compare_exchange_n(place, &was, (uint64_t)number << 32 | weight, false,
	                                    __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

void correlations_clear(struct correlations *correlations)
{
	for (int set = 0; set < CORRELATION_SETS; set++)
		for (int i = 0; i < CORRELATION_WAYS; i++)
			__atomic_store_n(&correlations->places[set][i], 0, __ATOMIC_RELAXED);
}

uint32_t correlations_find(const struct correlations *correlations, uint32_t number)
{
	const uint64_t *set = correlations->places[number % CORRELATION_SETS];

	for (int i = 0; i < CORRELATION_WAYS; i++) {
		uint64_t place = load(&set[i]);

		if (place && place >> 32 == number)
			return (uint32_t)place;
	}
	return 0;
}
