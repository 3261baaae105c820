/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Processes each buffer half after its flip: reads the side-band up to the flip, drains the half,
 * and adds its slices to the history.
 */
#include "collect/collector_private.h"

#include "base/clock.h"
#include "cpu/cpu.h"
#include "ingest/drain.h"

/* A process that has ended stays in the process table this long, because its samples may still wait
 * to be drained. */
static const uint64_t keep_ended_ns = 5 * NSEC_PER_SEC;

static struct drain_span span_of(const struct collector *collector)
{
	const struct heartbeat *heartbeat = &collector->heartbeat;

	return (struct drain_span){
		.start_mono_ns = heartbeat->start_mono_ns,
		.end_mono_ns = heartbeat->end_mono_ns,
		.start_wall_ns = heartbeat->start_wall_ns,
	};
}

struct drain_tables collector_tables(struct collector *collector)
{
	return (struct drain_tables){
		.procs = collector->procs,
		.store = collector->store,
		.crew = opener_crew(collector->crews.opener),
		.execs = collector->unwind_maps.memory.execs,
		.runtimes = &collector->runtimes,
		.jit = collector->jit,
	};
}

/* A process that runs or grows may hold another amount of memory than before. */
static void note_sampled(struct collector *collector, const struct drained *drained)
{
	for (size_t i = 0; i < drained->tally_count; i++)
		/* A process that waits does not grow, and requests to disks may be nobody's. */
		if (drained->tally_keys[i].kind != KIND_offcpu && drained->tally_keys[i].pid)
			memory_watch_note(collector->memory, drained->tally_keys[i].pid);
}

void collector_read_tables(void *ctx)
{
	struct collector *collector = ctx;

	sideband_read(collector->sideband);
	runtimes_read(&collector->runtimes);
	opener_settle(collector->crews.opener);
}

static void read_sources(struct collector *collector)
{
	for (int kind = 0; kind < KIND_COUNT; kind++)
		if (sources[kind]->read)
			sources[kind]->read(&collector->states[kind]);
}

/* Sets how much CPU time each sample stands for. */
static void weigh(struct collector *collector, struct drained *drained)
{
	if (drained->tally_count)
		threads_ran_read(&collector->ran, &collector->bpf,
		                 heartbeat_is_cut(&collector->heartbeat));
	run_times_weigh(collector->run_times, drained, &collector->ran,
	                collector->heartbeat.end_mono_ns, collector->states[KIND_cpu].period);
}

/* 0 or a negative errno. After an error some samples are lost; they are counted. */
static int make_slices(struct collector *collector, const struct drained *drained)
{
	const struct drain_tables tables = collector_tables(collector);
	struct half half = {
		.drained = drained,
		.span = span_of(collector),
		.tables = &tables,
		.losses = &collector->losses,
	};
	struct profile *slices[KIND_COUNT];
	int err = drain_slices(&half, collector->states, slices);
	int added = history_add(collector->history, slices);

	for (int kind = 0; kind < KIND_COUNT; kind++)
		if (sources[kind]->filled)
			sources[kind]->filled(&collector->states[kind],
			                      half.span.end_mono_ns - half.span.start_mono_ns);
	return err ?: added;
}

static void note_first_drain(struct collector *collector)
{
	if (!collector->ready) {
		cpu_begun(&collector->states[KIND_cpu]);
		late_load_start(&collector->late_load);
	}
	collector->ready = true;
}

void collector_eve_of_flip(void *ctx)
{
	struct collector *collector = ctx;

	for (int kind = 0; kind < KIND_COUNT; kind++)
		if (sources[kind]->eve_of_flip)
			sources[kind]->eve_of_flip(&collector->bpf, &collector->states[kind],
			                           heartbeat_is_cut(&collector->heartbeat));
}

/* What stacks refer to was reported before them, so that is read first. */
void collector_drain(void *ctx)
{
	struct collector *collector = ctx;
	uint64_t begin = clock_mono_ns();
	struct drained drained;
	int err;

	jit_read(collector->jit);
	collector_read_tables(collector);
	read_sources(collector);
	sideband_clock_put_off(&collector->sideband_clock);
	bpf_drain(&collector->bpf, collector->heartbeat.old_half, &drained);
	weigh(collector, &drained);
	note_sampled(collector, &drained);
	err = make_slices(collector, &drained);
	collector_stats_add(&collector->stats, &drained, &collector->losses);
	collector->stats.drains_unsettled = collector->bpf.unsettled;
	collector->stats.drains_overdue = collector->bpf.overdue;
	own_rate_tick(&collector->own_rate, collector->stats.taking_ns);
	collector->stats.last_drain_ns = clock_mono_ns() - begin;
	procs_expire(collector->procs, collector->heartbeat.end_mono_ns - keep_ended_ns);
	memory_watch_beat(collector->memory);
	if (err || drained.err)
		return;
	note_first_drain(collector);
	if (collector->drained)
		collector->drained(collector->ctx);
}
