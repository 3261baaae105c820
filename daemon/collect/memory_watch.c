/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A reading has two parts: the lane reads the files of /proc, and the loop thread passes what they
 * say to the timeline. The memory reader belongs to the lane while a reading is under way, and to
 * the loop thread otherwise.
 */
#include "collect/memory_watch.h"

#include "base/accounts.h"
#include "base/clock.h"
#include "base/lane.h"
#include "base/log.h"
#include "base/pid_set.h"
#include "collect/memory_watch_keep.h"
#include "growth/near_limit.h"
#include "growth/oom.h"
#include "heap/heaps.h"
#include "ingest/source.h"
#include "memory/reader.h"
#include "proc/owner.h"
#include "proc/proc.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	MAX_NOTED = 8192, /* processes between two readings; with more, all are read */
	BEAT_MS = MEMORY_WATCH_MS - 100, /* the calls are not evenly spaced */
};

struct memory_watch {
	struct memory_watch_config config;
	struct lane *lane;
	struct job reading; /* one at a time */
	struct memory_reader *reader;
	struct memory_readings readings; /* of the last reading */
	struct procs_watcher watcher;
	struct pid_set noted;
	uint64_t start_ms, beat_ms, read_ms, read_cpu_ns;
	int read_error;
	bool under_way, started, stopped;
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

/* The name of a process that the process table does not know. The timeline's name stays, if there
 * is one: with a name that came and went, the process would look like two programs. */
static const char *last_name(const struct memory_watch *watch, const struct memory_reading *reading)
{
	const struct timeline_process *known = timeline_find(watch->timeline, reading->pid);

	return known && known->start_ticks == reading->owner.start_ticks ? known->comm
	                                                                 : reading->owner.comm;
}

/* Names change with every exec, which the process table learns of. */
static const char *name_of(const struct memory_watch *watch, const struct memory_reading *reading)
{
	return procs_comm_of(watch->config.procs, reading->pid) ?: last_name(watch, reading);
}

/* Until the history is full, profd itself grows by what it records. */
static bool fills_history(const struct memory_watch *watch, uint32_t pid)
{
	return pid == (uint32_t)getpid() &&
	       watch->read_ms - watch->start_ms < watch->config.keep_ns / NSEC_PER_MSEC;
}

static void tell_process(struct memory_watch *watch, const struct memory_reading *reading,
                         const struct timeline_group *group)
{
	struct timeline_process seen = {
		.pid = reading->pid,
		.user = reading->user,
		.start_ticks = reading->owner.start_ticks,
		.seen_ms = reading->read_ms,
		.figures = reading->figures,
		.group = group,
		.fills = fills_history(watch, reading->pid),
	};
	uint64_t *heap = &seen.figures.values[MEMORY_heap_inuse];

	/* Noted for the next reading, too. */
	if (heaps_inuse(watch->config.heaps, seen.pid, heap))
		memory_watch_note(watch, seen.pid);
	else
		*heap = MEMORY_UNKNOWN;
	snprintf(seen.comm, sizeof(seen.comm), "%s", name_of(watch, reading));
	timeline_process(watch->timeline, &seen);
}

/* The heap that a process reports changes even if the process need not be read. */
static void tell_resting(struct memory_watch *watch, uint32_t pid)
{
	uint64_t heap;

	timeline_alive(watch->timeline, pid, watch->read_ms);
	if (heaps_inuse(watch->config.heaps, pid, &heap))
		memory_watch_note(watch, pid);
}

static int tell_timeline(struct memory_watch *watch)
{
	const struct memory_readings *readings = &watch->readings;
	_cleanup_free_ const struct timeline_group **groups =
		calloc(readings->group_count + 1, sizeof(const struct timeline_group *));

	if (!groups)
		return -ENOMEM;
	for (size_t i = 0; i < readings->group_count; i++)
		groups[i] = timeline_group(watch->timeline, readings->groups[i].path,
		                           readings->groups[i].user, &readings->groups[i].usage,
		                           watch->read_ms);
	for (size_t i = 0; i < readings->process_count; i++) {
		const struct memory_reading *reading = &readings->processes[i];

		if (reading->read_ms == watch->read_ms)
			tell_process(watch, reading,
			             reading->group == MEMORY_NO_GROUP ? NULL
			                                               : groups[reading->group]);
		else
			tell_resting(watch, reading->pid);
	}
	timeline_settle(watch->timeline, watch->read_ms);
	return 0;
}

static uint64_t total(const struct memory_figures *figures)
{
	uint64_t swap = figures->values[MEMORY_swap];

	return memory_resident(figures) + (swap == MEMORY_UNKNOWN ? 0 : swap);
}

static void keep(struct memory_watch *watch, uint32_t pid, uint32_t user, const char *comm,
                 enum keepsake_reason reason, const struct memory_figures *figures)
{
	struct keepsake keepsake = {
		.pid = pid,
		.owner = user,
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
		keep(watch, named[i]->pid, named[i]->user,
		     process ? process->comm : named[i]->owner.comm, KEEPSAKE_near_limit,
		     &named[i]->figures);
	}
}

static void on_kill(const struct oom_kill *kill, void *ctx)
{
	struct memory_watch *watch = ctx;
	const struct timeline_process *process = timeline_find(watch->timeline, kill->pid);
	const struct memory_figures *figures = &kill->figures;
	const char *comm = kill->comm;
	uint32_t user = kill->user == (u32)OOM_USER_UNKNOWN ? owner_read(kill->pid)
	                                                    : account_of(kill->user);

	watch->stats.oom_kills++;
	if (process && figures->values[MEMORY_rss_anon] == MEMORY_UNKNOWN)
		figures = &process->figures;
	if (process && !comm[0])
		comm = process->comm;
	if (process && user == OWNER_UNKNOWN)
		user = process->user;
	keep(watch, kill->pid, user, comm, KEEPSAKE_killed, figures);
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
	if (!watch->read_error)
		watch->stats.groups_refused = watch->readings.groups_refused;
	if (!err)
		keep_near(watch);
}

void memory_watch_note(struct memory_watch *watch, uint32_t pid)
{
	pid_set_add(&watch->noted, pid);
}

static void note_change(uint32_t pid, void *ctx)
{
	memory_watch_note(ctx, pid);
}

/* Processes that begin, end or call exec are noted through the process table; those that run or
 * grow are noted through samples. */
static void tell_noted(struct memory_watch *watch)
{
	uint32_t pid;

	memory_reader_growth_noted(watch->reader, watch->config.source->on);
	if (watch->noted.overflown)
		memory_reader_note_all(watch->reader);
	watch->noted.overflown = false;
	while ((pid = pid_set_take(&watch->noted)))
		memory_reader_note(watch->reader, pid, procs_ended(watch->config.procs, pid));
}

void memory_watch_beat(struct memory_watch *watch)
{
	uint64_t now_ms = clock_mono_ns() / NSEC_PER_MSEC;
	bool noted = watch->noted.count || watch->noted.overflown || !watch->beat_ms;

	if (!watch->started || watch->stopped || now_ms - watch->beat_ms < BEAT_MS)
		return;
	watch->beat_ms = now_ms;
	if (watch->under_way) {
		watch->stats.readings_late++;
		return;
	}
	if (!noted && now_ms - watch->read_ms + BEAT_MS / 2 < MEMORY_LOOK_MS)
		return;
	tell_noted(watch);
	watch->read_ms = now_ms;
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
	watch->lane = lane_new(config->loop, WORK_memory, 1 + MAX_SNAPSHOTS);
	watch->reader = memory_reader_new();
	watch->timeline = timeline_new(&limits);
	watch->keeper = (struct memory_keeper){
		.heartbeat = config->heartbeat,
		.growth = config->growth,
		.source = config->source,
		.lane = watch->lane,
		.keep_ns = config->keep_ns,
		.keepsakes = keepsakes_new(config->max_bytes),
	};
	memory_keeper_init(&watch->keeper);
	near_limit_init(&watch->near);
	if (watch->lane && watch->reader && watch->timeline && watch->keeper.keepsakes &&
	    !pid_set_init(&watch->noted, MAX_NOTED))
		return watch;
	memory_watch_free(watch);
	return NULL;
}

void memory_watch_start(struct memory_watch *watch, struct bpf *bpf)
{
	oom_start(&watch->oom, bpf, watch->config.loop, on_kill, watch);
	if (watch->oom.why[0])
		log_warning("%s; profiles of killed processes are not kept", watch->oom.why);
	watch->watcher = (struct procs_watcher){.fn = note_change, .ctx = watch};
	procs_watch(watch->config.procs, &watch->watcher);
	watch->started = true;
	watch->start_ms = clock_mono_ns() / NSEC_PER_MSEC;
	memory_watch_beat(watch);
}

void memory_watch_stop(struct memory_watch *watch)
{
	if (!watch || watch->stopped)
		return;
	watch->stopped = true;
	oom_stop(&watch->oom);
	memory_keeper_stop(&watch->keeper);
	lane_stop(watch->lane);
	procs_unwatch(watch->config.procs, &watch->watcher);
}

void memory_watch_free(struct memory_watch *watch)
{
	if (!watch)
		return;
	oom_release(&watch->oom);
	memory_keeper_release(&watch->keeper);
	near_limit_release(&watch->near);
	timeline_free(watch->timeline);
	memory_reader_free(watch->reader);
	lane_free(watch->lane);
	pid_set_release(&watch->noted);
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
