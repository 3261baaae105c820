/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a collector reports about itself and its parts.
 */
#include "collect/collector_private.h"
#include "runtimes/tasks.h"

#include "base/clock.h"
#include "bpf/execs.h"
#include "proc/process_memory.h"
#include "profile/builder.h"

#include <errno.h>

void collector_stats_add(struct collector_stats *stats, const struct drained *drained,
                         const struct drain_losses *losses)
{
	for (int i = 0; i < COUNTER_COUNT; i++)
		stats->counters[i] += drained->counters.values[i];
	stats->taking_ns += drained->counters.taking_ns;
	stats->drains++;
	stats->drain_errors += drained->err != 0;
	stats->samples_lost_in_drain = losses->samples_lost_in_drain;
	stats->frames_unmapped = losses->frames_unmapped;
	stats->frames_without_stack = losses->frames_without_stack;
	stats->images_missing = losses->images_missing;
	stats->codes_unknown = losses->codes_unknown;
	stats->words_misplaced = losses->words_misplaced;
	stats->tallies_used = (uint32_t)drained->tally_count;
	stats->stacks_used = (uint32_t)drained->stack_count;
}

bool collector_ready(const struct collector *collector)
{
	return collector->ready;
}

void collector_get_stats(const struct collector *collector, struct collector_stats *ret_stats)
{
	*ret_stats = collector->stats;
	ret_stats->sideband_records = sideband_records(collector->sideband);
	ret_stats->sideband_lost = sideband_lost(collector->sideband);
	ret_stats->tallies_size = collector->bpf.tally_size;
	ret_stats->stacks_size = collector->bpf.stack_size;
	unwinder_get_stats(collector->unwinder, &ret_stats->unwinder);
	unwinder_add_reader_stats(collector->unwinder, &ret_stats->readers);
	heaps_add_reader_stats(collector->heaps, &ret_stats->readers);
	gpu_add_reader_stats(collector->gpu, &ret_stats->readers);
	runtimes_add_reader_stats(&collector->runtimes, &ret_stats->readers);
	opener_get_stats(collector->crews.opener, &ret_stats->opener);
	maps_reader_get_stats(collector->crews.maps_reader, &ret_stats->maps_reader);
	ret_stats->cpus_sampled = collector->states[KIND_cpu].attached;
	ret_stats->event = collector->states[KIND_cpu].event;
}

uint64_t collector_own_cpu_ns(const struct collector *collector)
{
	return own_cpu_ns(collector->stats.taking_ns);
}

void collector_own_cost(struct collector *collector, struct own_cost *ret_cost)
{
	own_cost_read(&collector->own_rate, &collector->own_group, collector->stats.taking_ns,
	              ret_cost);
	ret_cost->memory_bytes[OWN_MEMORY_maps] =
		bpf_map_bytes(&collector->bpf) + collector->unwind_maps.chunk_bytes;
	ret_cost->memory_bytes[OWN_MEMORY_rings] = sideband_bytes(collector->sideband);
}

void collector_resize(struct collector *collector, size_t memory_bytes)
{
	if (collector->memory)
		memory_watch_resize(collector->memory, memory_bytes);
}

struct memory_watch *collector_memory(const struct collector *collector)
{
	return collector->memory;
}

bool collector_source(const struct collector *collector, size_t index,
                      struct source_status *ret_status)
{
	if (index >= KIND_COUNT)
		return false;
	ret_status->name = sources[index]->name;
	ret_status->period = collector->states[index].period;
	ret_status->event = collector->states[index].event;
	ret_status->on = collector->states[index].on;
	ret_status->why = ret_status->on ? "" : collector->states[index].why;
	return true;
}

int collector_in_use(struct collector *collector, enum profile_kind kind,
                     struct profile **ret_profile)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	int err;

	if (!builder)
		return -ENOMEM;
	source_describe(sources[kind], collector->states[kind].period, builder);
	err = sources[kind]->in_use(&collector->states[kind], builder);
	builder_time(builder, clock_mono_ns(), clock_wall_ns(), 0);
	return err ?: builder_seal(builder, ret_profile);
}

struct heaps *collector_heaps(struct collector *collector)
{
	return collector->heaps;
}

const struct runtimes *collector_runtimes(const struct collector *collector)
{
	return &collector->runtimes;
}

struct jit *collector_jit(const struct collector *collector)
{
	return collector->jit;
}

struct gpu *collector_gpu(struct collector *collector)
{
	return collector->gpu;
}

const char *collector_plan_tasks(const struct collector *collector, uint32_t pid,
                                 struct runtime_tasks_plan *ret_plan)
{
	const char *why = runtimes_plan_tasks(&collector->runtimes, pid, ret_plan);

	ret_plan->seen_ns = collector->told_mono_ns;
	return why;
}

int collector_check_tasks(const struct collector *collector, const struct runtime_tasks_plan *plan)
{
	if (execs_since(collector->unwind_maps.memory.execs, plan->pid, plan->seen_ns))
		return -EAGAIN;
	return process_memory_is_since(plan->pid, plan->seen_ns) ? 0 : -ESRCH;
}
