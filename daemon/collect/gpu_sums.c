/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Rows that are found by hash. Ids are small and given by us, so nobody chooses collisions.
 */
#include "collect/gpu_sums.h"

#include <errno.h>
#include <string.h>

enum { FIRST_CAPACITY = 64 };

static uint32_t *bucket_of(const struct gpu_sums *sums, uint32_t path, uint32_t task)
{
	uint64_t mixed = ((uint64_t)path << 32 | task) * 0x9e3779b97f4a7c15;

	return &sums->buckets[(mixed >> 32) & (sums->capacity - 1)];
}

static bool grow(struct gpu_sums *sums)
{
	uint32_t capacity = sums->capacity ? sums->capacity * 2 : FIRST_CAPACITY;
	struct gpu_sum *at = realloc(sums->at, capacity * sizeof(*at));
	uint32_t *buckets = at ? calloc(capacity, sizeof(*buckets)) : NULL;

	if (at)
		sums->at = at;
	if (!buckets)
		return false;
	free(sums->buckets);
	sums->buckets = buckets;
	sums->capacity = capacity;
	for (uint32_t i = 0; i < sums->count; i++) {
		uint32_t *bucket = bucket_of(sums, at[i].path, at[i].task);

		at[i].next = *bucket;
		*bucket = i + 1;
	}
	return true;
}

uint32_t gpu_sums_place(struct gpu_sums *sums, uint32_t path, uint32_t task)
{
	uint32_t *bucket;

	if (sums->count == sums->capacity && !grow(sums))
		return UINT32_MAX;
	bucket = bucket_of(sums, path, task);
	for (uint32_t place = *bucket; place; place = sums->at[place - 1].next)
		if (sums->at[place - 1].path == path && sums->at[place - 1].task == task)
			return place - 1;
	sums->at[sums->count] = (struct gpu_sum){.path = path, .task = task, .next = *bucket};
	*bucket = ++sums->count;
	return sums->count - 1;
}

static struct sample *samples_new(const struct gpu_sums *sums)
{
	return calloc(sums->count + 1, sizeof(struct sample));
}

int gpu_sums_allocated(struct gpu_sums *sums, struct sample **ret_samples, uint32_t *ret_count)
{
	struct sample *samples = samples_new(sums);
	uint32_t count = 1;

	if (!samples)
		return -ENOMEM;
	for (uint32_t i = 0; i < sums->count; i++) {
		struct gpu_sum *sum = &sums->at[i];

		if (!sum->allocations)
			continue;
		samples[count].node = sum->path;
		samples[count].task = sum->task;
		samples[count].values[0] = sum->allocations;
		samples[count++].values[1] = sum->allocated;
		sum->allocations = sum->allocated = 0;
	}
	*ret_samples = samples;
	*ret_count = count;
	return 0;
}

int gpu_sums_held(const struct gpu_sums *sums, struct sample **ret_samples, uint32_t *ret_count)
{
	struct sample *samples = samples_new(sums);
	uint32_t count = 1;

	if (!samples)
		return -ENOMEM;
	for (uint32_t i = 0; i < sums->count; i++) {
		const struct gpu_sum *sum = &sums->at[i];

		if (!sum->objects)
			continue;
		samples[count].node = sum->path;
		samples[count].task = sum->task;
		samples[count].values[2] = sum->objects;
		samples[count++].values[3] = sum->bytes;
	}
	*ret_samples = samples;
	*ret_count = count;
	return 0;
}

size_t gpu_sums_memory(const struct gpu_sums *sums)
{
	return sums->capacity * (sizeof(*sums->at) + sizeof(*sums->buckets));
}

void gpu_sums_release(struct gpu_sums *sums)
{
	free(sums->at);
	free(sums->buckets);
	*sums = (struct gpu_sums){0};
}
