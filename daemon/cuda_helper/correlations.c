/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cuda_helper/correlations.h"

static uint64_t load(const uint64_t *place)
{
	return __atomic_load_n(place, __ATOMIC_ACQUIRE);
}

/* Two threads may choose the same place at the same time; then one of the launches is lost, as if
 * it had been the oldest. */
void correlations_add(struct correlations *correlations, uint32_t number, uint32_t weight)
{
	uint64_t *set = correlations->places[number % CORRELATION_SETS], *oldest = set;
	uint32_t oldest_age = 0;

	for (int i = 0; i < CORRELATION_WAYS; i++) {
		uint64_t place = load(&set[i]);
		uint32_t age = number - (uint32_t)(place >> 32);

		if (!place) {
			oldest = &set[i];
			break;
		}
		if (age > oldest_age) {
			oldest_age = age;
			oldest = &set[i];
		}
	}
	__atomic_store_n(oldest, (uint64_t)number << 32 | weight, __ATOMIC_RELEASE);
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
