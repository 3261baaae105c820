/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * GPU memory that goes without a free of its own, for the feed of one program: memory allocated in
 * a context goes with the context, and physical memory goes with its last handle and last mapping.
 * No state but the feed's. Loop thread only.
 *
 * Contexts, by the reference manual of CUDA's driver (cuCtxDestroy, cuDevicePrimaryCtxRelease,
 * cuDevicePrimaryCtxReset): a context takes with it what cuMemAlloc*, cuMemAllocManaged,
 * cuMemHostAlloc and the array functions allocated, and what cuMemHostRegister registered.
 * Stream-ordered and physical memory belongs to no context. A device's primary context ends when
 * the last reference to it is released, or when it is reset, which drops no reference. The handle
 * stays, and the context comes back when it is used.
 *
 * A program that ran before its driver was probed, or whose events were lost, may hold references
 * that were not seen: a release of one ends nothing. Neither does the end of a context that was
 * current before probing began, if its handle was not seen after that.
 *
 * Physical memory (cuMemCreate, cuMemMap, cuMemUnmap, cuMemRelease, cuMemRetainAllocationHandle):
 * besides handles and mappings of the process, an exported descriptor or another process may keep
 * it. Neither is seen.
 *
 * The time of an end is that of the beginning of its call, so memory allocated during the call
 * stays. Mappings are in a table of their own, by address.
 */
#include "gpu/gpu_feed_private.h"

enum { MAX_NEWER = 64 }; /* mappings that an unmap event skips */

uint64_t gpu_ends_with(const struct gpu_event *event)
{
	if (event->layer != GPU_LAYER_DRIVER || event->memory == GPU_MEMORY_POOL ||
	    event->memory == GPU_MEMORY_PHYSICAL)
		return 0;
	return event->context;
}

static struct gpu_primary *primary_of(struct gpu_feed *feed, const struct gpu_event *event,
                                      struct gpu_feed_counts *counts)
{
	if (event->device < GPU_FEED_DEVICES)
		return &feed->primaries[event->device];
	counts->contexts_full++;
	return NULL;
}

static void retained(struct gpu_feed *feed, const struct gpu_event *event,
                     struct gpu_feed_counts *counts)
{
	struct gpu_primary *primary = event->size ? primary_of(feed, event, counts) : NULL;

	if (!primary)
		return;
	primary->context = event->address;
	primary->references++;
}

static void end_context(struct gpu_feed *feed, uint64_t context, uint64_t time_ns)
{
	struct gpu_allocation gone;

	while (gpu_live_remove_of(feed->layers[GPU_LAYER_DRIVER].live, context, time_ns, &gone))
		gpu_feed_let_go(feed, GPU_LAYER_DRIVER, &gone);
}

/* Drops one reference. Returns whether it was the last one, for certain. */
static bool was_last(const struct gpu_feed *feed, struct gpu_primary *primary)
{
	if (!primary->references)
		return false;
	return !--primary->references && !feed->late;
}

static void ended(struct gpu_feed *feed, const struct gpu_event *event,
                  struct gpu_feed_counts *counts)
{
	struct gpu_primary *primary;

	if (event->memory == GPU_END_CONTEXT) {
		end_context(feed, event->address, event->time_ns);
		return;
	}
	primary = primary_of(feed, event, counts);
	if (primary && (event->memory == GPU_END_PRIMARY ||
	                (event->memory == GPU_END_REFERENCE && was_last(feed, primary))))
		end_context(feed, primary->context, event->time_ns);
}

/* The physical memory that had this handle at that time; NULL: none is known. */
static struct gpu_allocation *physical_of(const struct gpu_feed *feed, uint64_t handle,
                                          uint64_t time_ns)
{
	struct gpu_allocation *found = gpu_live_find(feed->layers[GPU_LAYER_DRIVER].live, handle);

	return found && found->memory == GPU_MEMORY_PHYSICAL && found->time_ns <= time_ns ? found
	                                                                                  : NULL;
}

static bool is_kept(const struct gpu_allocation *physical)
{
	return physical->references || physical->maps;
}

bool gpu_ends_keeps(struct gpu_feed *feed, const struct gpu_event *event)
{
	struct gpu_allocation *physical;

	if (event->layer != GPU_LAYER_DRIVER || event->memory != GPU_MEMORY_PHYSICAL)
		return false;
	physical = physical_of(feed, event->address, event->time_ns);
	if (physical && physical->references)
		physical->references--;
	return physical && is_kept(physical);
}

static void map_gone(struct gpu_feed *feed, const struct gpu_allocation *map)
{
	struct gpu_allocation gone, *physical = physical_of(feed, map->handle, map->time_ns);

	if (!physical || !physical->maps)
		return;
	physical->maps--;
	if (is_kept(physical) ||
	    !gpu_live_remove(feed->layers[GPU_LAYER_DRIVER].live, map->handle, UINT64_MAX, &gone))
		return;
	gpu_feed_let_go(feed, GPU_LAYER_DRIVER, &gone);
	gpu_feed_count_free(feed, gone.device);
}

static void mapped(struct gpu_feed *feed, const struct gpu_event *event,
                   struct gpu_feed_counts *counts)
{
	struct gpu_allocation *physical, before,
		map = {
			.address = event->address,
			.size = event->size,
			.time_ns = event->time_ns,
			.handle = event->handle,
		};
	enum gpu_live_result result;

	if (!map.address || !map.size || !map.handle)
		return;
	if (!feed->maps)
		feed->maps = gpu_live_new();
	if (!feed->maps) {
		counts->maps_full++;
		return;
	}
	/* Without room, the event still shows that what was at the address before is gone. */
	gpu_live_freeze(feed->maps, feed->paths.crowded);
	result = gpu_live_add(feed->maps, &map, 0, &before);
	counts->maps_full += result == GPU_LIVE_FULL;
	physical = physical_of(feed, map.handle, map.time_ns);
	if (physical && result == GPU_LIVE_KEPT)
		physical->maps++;
	/* Its unmapping was not reported. */
	if (before.address)
		map_gone(feed, &before);
}

/* A range is unmapped as a whole, however many mappings lie side by side in it. Mappings that are
 * newer than the event are skipped; there are few, if any. */
static void unmapped(struct gpu_feed *feed, const struct gpu_event *event)
{
	uint64_t address = event->address, left = event->size;
	struct gpu_allocation map;
	int newer = 0;

	while (feed->maps && left && newer < MAX_NEWER && gpu_live_find(feed->maps, address)) {
		if (gpu_live_remove(feed->maps, address, event->time_ns, &map))
			map_gone(feed, &map);
		else
			newer++;
		address += map.size;
		left -= map.size < left ? map.size : left;
	}
}

void gpu_feed_end(struct gpu_feed *feed, const struct gpu_event *event,
                  struct gpu_feed_counts *counts)
{
	struct gpu_allocation *physical;

	switch (event->kind) {
	case GPU_EVENT_CONTEXT:
		retained(feed, event, counts);
		break;
	case GPU_EVENT_ENDED:
		ended(feed, event, counts);
		break;
	case GPU_EVENT_MAPPED:
		mapped(feed, event, counts);
		break;
	case GPU_EVENT_UNMAPPED:
		unmapped(feed, event);
		break;
	case GPU_EVENT_RETAINED:
		physical = physical_of(feed, event->address, event->time_ns);
		if (physical)
			physical->references++;
		break;
	}
}
