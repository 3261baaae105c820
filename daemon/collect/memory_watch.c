/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A reading: on the lane the files of /proc, on the loop thread what they say, told to the
 * timeline. The reader is the lane's while a reading is under way and the loop's between two.
 */
#include "collect/memory_watch.h"

#include "base/clock.h"
#include "base/lane.h"
#include "base/log.h"
#include "collect/heaps.h"
#include "collect/memory_watch_keep.h"
#include "collect/near_limit.h"
#include "collect/oom.h"
#include "memory/reader.h"
#include "proc/proc.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct memory_watch {
	struct memory_watch_config config;
	struct lane *lane;
	struct job reading; /* one at a time */
	struct memory_reader *reader;
	struct memory_readings readings; /* of the last one */
	uint64_t read_ms, read_cpu_ns;
	int read_error;
	bool under_way, started, stopped;
	uv_timer_t second;
	struct timeline *timeline;
	struct memory_keeper keeper;
	struct near_limit near;
	struct oom oom;
	struct memory_watch_stats stats;
};

static struct memory_watch *watch_of(struct job *job)
{
	return (struct memory_watch *)((char *)job - offsetof(struct memory_watch, reading));
}

/* Worker thread. */
static void run_reading(struct job *job)
{
	struct memory_watch *watch = watch_of(job);
	uint64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	watch->read_error = memory_reader_read(watch->reader, watch->read_ms, &watch->readings);
	watch->read_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
}

/* Names change with every exec, and the process table hears of that. */
struct naming {
	const struct memory_readings *readings;
	const char **comms;
	size_t next;
};

static void name_reading(const struct proc *proc, void *ctx)
{
	struct naming *naming = ctx;
	const struct memory_readings *readings = naming->readings;

	while (naming->next < readings->process_count &&
	       readings->processes[naming->next].pid < proc->pid)
		naming->next++;
	if (naming->next < readings->process_count &&
	    readings->processes[naming->next].pid == proc->pid)
		naming->comms[naming->next] = proc->comm;
}

/* Of a process that the table does not know: a name that came and went would be two programs. */
static const char *last_name(const struct memory_watch *watch, const struct memory_reading *reading)
{
	const struct timeline_process *known = timeline_find(watch->timeline, reading->pid);

	return known && known->start_ticks == reading->owner.start_ticks ? known->comm
	                                                                 : reading->owner.comm;
}

static int tell_timeline(struct memory_watch *watch)
{
	const struct memory_readings *readings = &watch->readings;
	_cleanup_free_ const struct timeline_group **groups =
		calloc(readings->group_count + 1, sizeof(const struct timeline_group *));
	_cleanup_free_ const char **comms = calloc(readings->process_count + 1, sizeof(char *));
	struct naming naming = {readings, comms, 0};

	if (!groups || !comms)
		return -ENOMEM;
	procs_each(watch->config.procs, name_reading, &naming);
	for (size_t i = 0; i < readings->group_count; i++)
		groups[i] = timeline_group(watch->timeline, readings->groups[i].path,
		                           &readings->groups[i].usage, watch->read_ms);
	for (size_t i = 0; i < readings->process_count; i++) {
		const struct memory_reading *reading = &readings->processes[i];
		struct timeline_process seen = {
			.pid = reading->pid,
			.start_ticks = reading->owner.start_ticks,
			.seen_ms = watch->read_ms,
			.figures = reading->figures,
		};
		uint64_t *heap = &seen.figures.values[MEMORY_heap_inuse];

		if (!heaps_inuse(watch->config.heaps, seen.pid, heap))
			*heap = MEMORY_UNKNOWN;

		snprintf(seen.comm, sizeof(seen.comm), "%s",
		         comms[i] ? comms[i] : last_name(watch, reading));
		if (reading->group != MEMORY_NO_GROUP)
			seen.group = groups[reading->group];
		timeline_process(watch->timeline, &seen);
	}
	timeline_settle(watch->timeline, watch->read_ms);
	return 0;
}

static uint64_t total(const struct memory_figures *figures)
{
	uint64_t swap = figures->values[MEMORY_swap];

	return memory_resident(figures) + (swap == MEMORY_UNKNOWN ? 0 : swap);
}

static void keep(struct memory_watch *watch, uint32_t pid, const char *comm,
                 enum keepsake_reason reason, const struct memory_figures *figures)
{
	struct keepsake keepsake = {
		.pid = pid,
		.kind = KIND_rss,
		.reason = reason,
		.when_unix_ms = clock_wall_ns() / NSEC_PER_MSEC,
		.bytes = total(figures),
	};

	snprintf(keepsake.comm, sizeof(keepsake.comm), "%s", comm);
	watch->stats.snapshots_failed += memory_keeper_keep(&watch->keeper, &keepsake) != 0;
}

static void keep_near(struct memory_watch *watch)
{
	const struct memory_reading *named[NEAR_AT_ONCE];
	size_t count = near_limit_find(&watch->near, &watch->readings, watch->read_ms, named);

	for (size_t i = 0; i < count; i++) {
		const struct timeline_process *process =
			timeline_find(watch->timeline, named[i]->pid);

		watch->stats.near_limit++;
		keep(watch, named[i]->pid, process ? process->comm : named[i]->owner.comm,
		     KEEPSAKE_near_limit, &named[i]->figures);
	}
}

static void on_kill(const struct oom_kill *kill, void *ctx)
{
	struct memory_watch *watch = ctx;
	const struct timeline_process *process = timeline_find(watch->timeline, kill->pid);
	const struct memory_figures *figures = &kill->figures;
	const char *comm = kill->comm;

	watch->stats.oom_kills++;
	if (process && figures->values[MEMORY_rss_anon] == MEMORY_UNKNOWN)
		figures = &process->figures;
	if (process && !comm[0])
		comm = process->comm;
	keep(watch, kill->pid, comm, KEEPSAKE_killed, figures);
}

static void on_read(struct job *job)
{
	struct memory_watch *watch = watch_of(job);
	int err = watch->read_error;

	watch->under_way = false;
	if (watch->stopped)
		return;
	if (!err)
		err = tell_timeline(watch);
	watch->stats.readings++;
	watch->stats.reading_seconds += watch->read_cpu_ns;
	watch->stats.readings_failed += err != 0;
	if (!err)
		keep_near(watch);
}

static void on_second(uv_timer_t *timer)
{
	struct memory_watch *watch = timer->data;

	if (watch->under_way) {
		watch->stats.readings_late++;
		return;
	}
	watch->read_ms = clock_mono_ns() / NSEC_PER_MSEC;
	watch->read_error = -ECANCELED;
	watch->under_way = lane_submit(watch->lane, &watch->reading) == 0;
}

struct memory_watch *memory_watch_new(const struct memory_watch_config *config)
{
	const struct timeline_limits limits = {
		.keep_ms = config->keep_ns / NSEC_PER_MSEC,
		.max_bytes = config->max_bytes,
		.max_processes = MAX_PROCESSES,
	};
	struct memory_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return NULL;
	watch->config = *config;
	watch->reading = (struct job){.run = run_reading, .done = on_read};
	watch->lane = lane_new(config->loop, 1 + MAX_SNAPSHOTS);
	watch->reader = memory_reader_new();
	watch->timeline = timeline_new(&limits);
	watch->keeper = (struct memory_keeper){
		.collector = config->collector,
		.growth = config->growth,
		.lane = watch->lane,
		.keep_ns = config->keep_ns,
		.keepsakes = keepsakes_new(config->max_bytes),
	};
	if (watch->lane && watch->reader && watch->timeline && watch->keeper.keepsakes)
		return watch;
	memory_watch_free(watch);
	return NULL;
}

int memory_watch_start(struct memory_watch *watch, struct bpf *bpf)
{
	oom_start(&watch->oom, bpf, watch->config.loop, on_kill, watch);
	if (watch->oom.why[0])
		log_warning("%s; profiles of killed processes are not kept", watch->oom.why);
	uv_timer_init(watch->config.loop, &watch->second);
	watch->second.data = watch;
	watch->started = true;
	return uv_timer_start(&watch->second, on_second, 0, MEMORY_WATCH_MS);
}

void memory_watch_stop(struct memory_watch *watch)
{
	if (!watch || watch->stopped)
		return;
	watch->stopped = true;
	oom_stop(&watch->oom);
	memory_keeper_stop(&watch->keeper);
	lane_stop(watch->lane);
	if (watch->started)
		uv_close((uv_handle_t *)&watch->second, NULL);
}

void memory_watch_free(struct memory_watch *watch)
{
	if (!watch)
		return;
	oom_release(&watch->oom);
	keepsakes_free(watch->keeper.keepsakes);
	timeline_free(watch->timeline);
	memory_reader_free(watch->reader);
	lane_free(watch->lane);
	free(watch);
}

void memory_watch_resize(struct memory_watch *watch, size_t max_bytes)
{
	timeline_resize(watch->timeline, max_bytes);
	keepsakes_resize(watch->keeper.keepsakes, max_bytes);
}

const struct timeline *memory_watch_timeline(const struct memory_watch *watch)
{
	return watch->timeline;
}

void memory_watch_keep(struct memory_watch *watch, const struct keepsake *what)
{
	keepsakes_add(watch->keeper.keepsakes, what);
}

const struct keepsakes *memory_watch_keepsakes(const struct memory_watch *watch)
{
	return watch->keeper.keepsakes;
}

const char *memory_watch_why(const struct memory_watch *watch)
{
	return watch->oom.why;
}

void memory_watch_get_stats(const struct memory_watch *watch, struct memory_watch_stats *ret_stats)
{
	*ret_stats = watch->stats;
	ret_stats->oom_kills_lost = oom_lost(&watch->oom);
	ret_stats->snapshots_failed += watch->keeper.failed;
}
