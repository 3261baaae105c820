/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Rows found by hash. The ids are small and profd assigns them, so programs cannot choose
 * collisions.
 */
#include "gpu/gpu_sums.h"

#include <errno.h>
#include <string.h>

enum { FIRST_CAPACITY = 64 };

static uint32_t *bucket_of(const struct gpu_sums *sums, uint32_t path, uint32_t task)
{
	uint64_t mixed = ((uint64_t)path << 32 | task) * 0x9e3779b97f4a7c15;

	return &sums->buckets[(mixed >> 32) & (sums->capacity - 1)];
}

/* Called with empty buckets. */
static void link_all(struct gpu_sums *sums)
{
	sums->free = 0;
	for (uint32_t i = sums->count; i-- > 0;) {
		struct gpu_sum *sum = &sums->at[i];
		uint32_t *list = sum->used ? bucket_of(sums, sum->path, sum->task) : &sums->free;

		sum->next = *list;
		*list = i + 1;
	}
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
	link_all(sums);
	return true;
}

/* Gives back free places at the end, but only while at most a quarter is in use, so that the table
 * does not shrink and grow again and again. */
static void shrink(struct gpu_sums *sums)
{
	uint32_t capacity = sums->capacity;

	while (sums->count && !sums->at[sums->count - 1].used)
		sums->count--;
	while (capacity > FIRST_CAPACITY && sums->count <= capacity / 4)
		capacity /= 2;
	if (capacity == sums->capacity)
		return;
	struct gpu_sum *at = realloc(sums->at, capacity * sizeof(*at));
	uint32_t *buckets = realloc(sums->buckets, capacity * sizeof(*buckets));
	/* If one of them was not shrunk, that does no harm. */
	sums->at = at ?: sums->at;
	sums->buckets = buckets ?: sums->buckets;
	sums->capacity = capacity;
}

/* Frees the places of pairs that hold nothing; a slice has taken what they allocated. */
static void recycle(struct gpu_sums *sums)
{
	bool changed = false;

	for (uint32_t i = 0; i < sums->count; i++) {
		struct gpu_sum *sum = &sums->at[i];

		if (!sum->used || sum->objects)
			continue;
		sum->used = false;
		changed = true;
	}
	if (!changed)
		return;
	shrink(sums);
	memset(sums->buckets, 0, sums->capacity * sizeof(*sums->buckets));
	link_all(sums);
}

static struct gpu_sum *take_place(struct gpu_sums *sums)
{
	uint32_t place = sums->free;

	if (place) {
		sums->free = sums->at[place - 1].next;
		return &sums->at[place - 1];
	}
	if (sums->count == GPU_SUMS_MAX || (sums->count == sums->capacity && !grow(sums)))
		return NULL;
	return &sums->at[sums->count++];
}

uint32_t gpu_sums_place(struct gpu_sums *sums, uint32_t path, uint32_t task)
{
	uint32_t place = sums->capacity ? *bucket_of(sums, path, task) : 0;
	struct gpu_sum *sum;

	for (; place; place = sums->at[place - 1].next)
		if (sums->at[place - 1].path == path && sums->at[place - 1].task == task)
			return place - 1;
	sum = take_place(sums);
	if (!sum)
		return UINT32_MAX;
	place = (uint32_t)(sum - sums->at);
	uint32_t *bucket = bucket_of(sums, path, task);
	*sum = (struct gpu_sum){.path = path, .task = task, .next = *bucket, .used = true};
	*bucket = place + 1;
	return place;
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
	recycle(sums);
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
