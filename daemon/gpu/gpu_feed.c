/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Each allocation is in three places: by address, by stack, and in the figures of its device. A
 * free finds it by address and takes it out of all three.
 */
#include "gpu/gpu_feed_private.h"

#include "base/clock.h"
#include "cuda/calls.h"
#include "ingest/source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct gpu_feed *gpu_feed_new(const struct drain_tables *tables, uint32_t pid, uint32_t image,
                              uint64_t mono_ns)
{
	_cleanup_(gpu_feed_freep) struct gpu_feed *feed = calloc(1, sizeof(*feed));
	const struct image *program;

	if (!feed)
		return NULL;
	feed->pid = pid;
	feed->image = image;
	feed->start_ns = mono_ns;
	program = procs_image(tables->procs, pid, mono_ns);
	if (program)
		memcpy(feed->comm, program->comm, sizeof(feed->comm));
	for (int layer = 0; layer < GPU_FEED_LAYERS; layer++) {
		feed->layers[layer].live = gpu_live_new();
		if (!feed->layers[layer].live)
			return NULL;
	}
	if (gpu_paths_open(&feed->paths, tables, pid))
		return NULL;
	return TAKE_PTR(feed);
}

void gpu_feed_free(struct gpu_feed *feed)
{
	if (!feed)
		return;
	for (int layer = 0; layer < GPU_FEED_LAYERS; layer++) {
		gpu_live_destroy(feed->layers[layer].live);
		gpu_sums_release(&feed->layers[layer].sums);
	}
	gpu_live_destroy(feed->maps);
	gpu_totals_release(&feed->totals);
	gpu_paths_close(&feed->paths);
	free(feed);
}

static struct gpu_total *total_of(struct gpu_feed *feed, uint8_t device)
{
	return gpu_totals_of(&feed->totals, device);
}

/* XLA's allocators report no totals: the daemon knows only the allocations that were seen. */
static bool says_totals(const struct gpu_event *event)
{
	return event->layer == GPU_LAYER_TENSOR && gpu_call_library(event->call) != GPU_LIBRARY_XLA;
}

/* Stores the totals that a framework reports for its allocator after this event. */
static void note_tensors(struct gpu_feed *feed, const struct gpu_event *event)
{
	struct gpu_total *total = says_totals(event) ? total_of(feed, event->device) : NULL;

	if (!total)
		return;
	total->figures.tensors_allocated = event->allocated;
	total->figures.tensors_reserved = event->reserved;
}

static void sum_tensors(struct gpu_feed *feed, const struct gpu_event *event, uint8_t device)
{
	struct gpu_total *total;

	if (event->layer != GPU_LAYER_TENSOR || says_totals(event))
		return;
	total = total_of(feed, device);
	if (total)
		total->figures.tensors_allocated = total->figures.in_use[GPU_MEMORY_TENSOR];
}

static uint32_t place_of(struct gpu_feed *feed, const struct gpu_event *event,
                         const uint64_t *words, bool failed, uint32_t *ret_task)
{
	struct gpu_labels labels = {
		.device = event->device,
		.memory = event->memory,
		.call = event->call,
		.via = event->via,
		.tensor = event->layer == GPU_LAYER_TENSOR,
		.failed = failed,
	};
	uint32_t path =
		gpu_paths_add(&feed->paths, words, event->words, event->time_ns, &labels.ran);

	*ret_task = gpu_paths_task(&feed->paths, &labels, event->time_ns);
	return path;
}

void gpu_feed_count_free(struct gpu_feed *feed, uint8_t device)
{
	struct gpu_total *total = total_of(feed, device);

	if (total)
		total->figures.frees++;
}

void gpu_feed_let_go(struct gpu_feed *feed, enum gpu_layer layer, const struct gpu_allocation *gone)
{
	struct gpu_sum *sum = &feed->layers[layer].sums.at[gone->sum];

	sum->objects--;
	sum->bytes -= gone->size;
	gpu_total_gone(total_of(feed, gone->device), gone->memory, gone->size);
}

static void freed(struct gpu_feed *feed, enum gpu_layer layer, const struct gpu_allocation *gone)
{
	gpu_feed_let_go(feed, layer, gone);
	gpu_feed_count_free(feed, gone->device);
}

void gpu_feed_alloc(struct gpu_feed *feed, const struct gpu_event *event, const uint64_t *words,
                    struct gpu_feed_counts *counts)
{
	struct gpu_feed_layer *layer = &feed->layers[event->layer];
	uint64_t full = feed->paths.full;
	uint32_t task, path = place_of(feed, event, words, false, &task);
	struct gpu_allocation before, allocation = {
					      .address = event->address,
					      .size = event->size,
					      .time_ns = event->time_ns,
					      .sum = gpu_sums_place(&layer->sums, path, task),
					      .memory = event->memory,
					      .device = event->device,
					      .references = 1,
				      };
	struct gpu_total *total = total_of(feed, event->device);

	counts->stacks_full += feed->paths.full - full;
	note_tensors(feed, event);
	if (total)
		total->figures.allocations++;
	if (allocation.sum == UINT32_MAX) {
		counts->table_full++;
		return;
	}
	layer->sums.at[allocation.sum].allocations++;
	layer->sums.at[allocation.sum].allocated += event->size;
	if (!event->address) {
		counts->table_full++;
		return;
	}
	/* Without room, the event still shows that what was at the address before is gone. */
	gpu_live_freeze(layer->live, feed->paths.crowded);
	switch (gpu_live_add(layer->live, &allocation, gpu_ends_with(event), &before)) {
	case GPU_LIVE_ALONE:
		counts->contexts_full++;
		/* fall through */
	case GPU_LIVE_KEPT:
		layer->sums.at[allocation.sum].objects++;
		layer->sums.at[allocation.sum].bytes += event->size;
		break;
	case GPU_LIVE_FULL:
		counts->table_full++;
		allocation.address = 0;
		break;
	case GPU_LIVE_OVER:
		gpu_feed_count_free(feed, event->device);
		allocation.address = 0;
	}
	/* The previous allocation goes first, or the peak would count both. */
	if (before.address)
		freed(feed, event->layer, &before);
	if (allocation.address)
		gpu_total_allocated(total_of(feed, event->device), event->memory, event->size);
	sum_tensors(feed, event, event->device);
}

void gpu_feed_release(struct gpu_feed *feed, const struct gpu_event *event)
{
	struct gpu_allocation gone;

	note_tensors(feed, event);
	if (gpu_ends_keeps(feed, event))
		return;
	/* The allocation of this free is not held: it is gone already, or the free came before it.
	 * A free that waits too long for its allocation is counted as unmatched. */
	if (!event->address || !gpu_live_remove(feed->layers[event->layer].live, event->address,
	                                        event->time_ns, &gone))
		return;
	freed(feed, event->layer, &gone);
	sum_tensors(feed, event, gone.device);
}

void gpu_feed_failed(struct gpu_feed *feed, const struct gpu_event *event)
{
	struct gpu_total *total = total_of(feed, event->device);

	note_tensors(feed, event);
	if (total)
		total->figures.failures++;
}

/* The profile spans the time since the process was first seen. */
static void set_time(const struct gpu_feed *feed, uint64_t mono_ns, struct builder *builder)
{
	uint64_t start_ns = feed->start_ns < mono_ns ? feed->start_ns : mono_ns;

	builder_time(builder, start_ns, clock_wall_ns() - clock_mono_ns() + start_ns,
	             mono_ns - start_ns);
}

int gpu_feed_failure(struct gpu_feed *feed, const struct gpu_event *event, const uint64_t *words,
                     struct profile **ret_profile)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	struct sample asked[2] = {{0}, {.values = {1, event->size}}};
	int err;

	if (!builder)
		return -ENOMEM;
	source_describe(sources[KIND_gpu_memory], 1, builder);
	asked[1].node = place_of(feed, event, words, true, &asked[1].task);
	err = gpu_feed_held(feed, event->layer, builder);
	if (!err)
		err = gpu_paths_merge(&feed->paths, asked, 2, builder);
	if (err)
		return err;
	set_time(feed, event->time_ns, builder);
	return builder_seal(builder, ret_profile);
}

int gpu_feed_allocated(struct gpu_feed *feed, enum gpu_layer layer, struct builder *into,
                       uint64_t *ret_count)
{
	_cleanup_free_ struct sample *samples = NULL;
	uint32_t count;
	int err = gpu_sums_allocated(&feed->layers[layer].sums, &samples, &count);

	*ret_count = 0;
	if (err)
		return err;
	for (uint32_t i = 1; i < count; i++)
		*ret_count += samples[i].values[0];
	return gpu_paths_merge(&feed->paths, samples, count, into);
}

int gpu_feed_held(struct gpu_feed *feed, enum gpu_layer layer, struct builder *into)
{
	_cleanup_free_ struct sample *samples = NULL;
	uint32_t count;
	int err = gpu_sums_held(&feed->layers[layer].sums, &samples, &count);

	return err ?: gpu_paths_merge(&feed->paths, samples, count, into);
}

uint64_t gpu_feed_bytes(const struct gpu_feed *feed, enum gpu_layer layer)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < feed->totals.count; i++)
		for (int memory = 0; memory < GPU_MEMORY_COUNT; memory++)
			if ((memory == GPU_MEMORY_TENSOR) == (layer == GPU_LAYER_TENSOR))
				bytes += feed->totals.at[i].figures.in_use[memory];
	return bytes;
}

uint64_t gpu_feed_unmatched(struct gpu_feed *feed, uint64_t now_ns)
{
	uint64_t unmatched = 0;

	for (int layer = 0; layer < GPU_FEED_LAYERS; layer++)
		unmatched += gpu_live_unmatched(feed->layers[layer].live, now_ns);
	return unmatched;
}

size_t gpu_feed_memory(const struct gpu_feed *feed)
{
	size_t bytes = sizeof(*feed) + gpu_paths_memory(&feed->paths);

	if (feed->maps)
		bytes += gpu_live_memory(feed->maps);
	for (int layer = 0; layer < GPU_FEED_LAYERS; layer++)
		bytes += gpu_live_memory(feed->layers[layer].live) +
		         gpu_sums_memory(&feed->layers[layer].sums);
	return bytes;
}
