/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sums. The peak is updated with each allocation, so it is exact.
 */
#include "gpu/gpu_totals.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

static struct gpu_total *insert(struct gpu_totals *totals, size_t place, uint8_t device)
{
	struct gpu_total *at = realloc(totals->at, (totals->count + 1) * sizeof(*at));

	if (!at)
		return NULL;
	totals->at = at;
	memmove(at + place + 1, at + place, (totals->count - place) * sizeof(*at));
	totals->count++;
	at[place] = (struct gpu_total){.figures = {.device = device}};
	return &at[place];
}

struct gpu_total *gpu_totals_of(struct gpu_totals *totals, uint8_t device)
{
	size_t place = 0;

	while (place < totals->count && totals->at[place].figures.device < device)
		place++;
	if (place < totals->count && totals->at[place].figures.device == device)
		return &totals->at[place];
	if (totals->count >= GPU_TOTALS_DEVICES && device != GPU_DEVICE_UNKNOWN)
		return gpu_totals_of(totals, GPU_DEVICE_UNKNOWN);
	return insert(totals, place, device);
}

void gpu_totals_release(struct gpu_totals *totals)
{
	free(totals->at);
	*totals = (struct gpu_totals){0};
}

static uint64_t held(const struct gpu_figures *figures)
{
	uint64_t bytes = 0;

	for (int memory = 0; memory < GPU_MEMORY_COUNT; memory++)
		if (memory != GPU_MEMORY_TENSOR)
			bytes += figures->in_use[memory];
	return bytes;
}

void gpu_total_allocated(struct gpu_total *total, enum gpu_memory memory, uint64_t bytes)
{
	if (!total)
		return;
	struct gpu_figures *figures = &total->figures;
	figures->in_use[memory] += bytes;
	if (held(figures) > figures->peak)
		figures->peak = held(figures);
}

void gpu_total_gone(struct gpu_total *total, enum gpu_memory memory, uint64_t bytes)
{
	if (total)
		total->figures.in_use[memory] -= bytes;
}

void gpu_total_calls(struct gpu_total *total, const struct gpu_call_key *key,
                     const struct gpu_call *calls)
{
	if (!total)
		return;
	struct gpu_figures *figures = &total->figures;
	struct gpu_second *second = &total->second;
	if (key->kind == KIND_gpu_launch) {
		figures->launches += calls->count;
		second->launches += calls->count;
	} else if (key->kind == KIND_gpu_wait) {
		figures->waits += calls->count;
		figures->wait_ns += calls->value;
		second->wait_ns += calls->value;
	} else if (key->kind == KIND_gpu_copy && key->detail < GPU_DIRECTION_COUNT) {
		figures->copies[key->detail] += calls->count;
		figures->copied_bytes[key->detail] += calls->value;
		second->copied_bytes[key->detail] += calls->value;
	}
}

void gpu_totals_end_second(struct gpu_totals *totals, uint64_t duration_ns)
{
	double seconds = duration_ns ? (double)duration_ns / NSEC_PER_SEC : 1;

	for (size_t i = 0; i < totals->count; i++) {
		struct gpu_figures *figures = &totals->at[i].figures;
		struct gpu_second *second = &totals->at[i].second;

		figures->launches_s = (double)second->launches / seconds;
		figures->waits_share = (double)second->wait_ns / NSEC_PER_SEC / seconds;
		for (int way = 0; way < GPU_DIRECTION_COUNT; way++)
			figures->copied_bytes_s[way] = (double)second->copied_bytes[way] / seconds;
		*second = (struct gpu_second){0};
	}
}
