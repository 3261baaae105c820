/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A snapshot may be put off. It waits for a boundary, then it is merged on the lane, then it goes
 * to the keepsakes.
 */
#include "collect/memory_watch_keep.h"

#include "base/clock.h"
#include "base/lane.h"
#include "ingest/source.h"
#include "kernel/heartbeat.h"
#include "profile/recorder.h"
#include "profile/select.h"

#include <errno.h>
#include <stddef.h>

struct snapshot {
	struct memory_keeper *keeper;
	struct snapshot_place place;
	struct keepsake what;
	struct cut cut;
	struct job job;
	struct selection selection;
	struct slices slices;
	uint64_t from_mono_ns, to_mono_ns;
	uint64_t period;
	int error;
	struct snapshot *next, *prev; /* while it waits */
};

static struct snapshot *snapshot_of(struct snapshot_place *place)
{
	return (struct snapshot *)((char *)place - offsetof(struct snapshot, place));
}

static void snapshot_free(struct snapshot *snapshot)
{
	slices_release(&snapshot->slices);
	profile_unref(snapshot->what.profile);
	free(snapshot);
}

/* Waits for a boundary. */
static void begin(struct snapshot *snapshot)
{
	struct memory_keeper *keeper = snapshot->keeper;

	snapshot->next = keeper->waiting;
	if (keeper->waiting)
		keeper->waiting->prev = snapshot;
	keeper->waiting = snapshot;
	heartbeat_cut(keeper->heartbeat, &snapshot->cut);
}

/* Frees a snapshot that was under way; others may begin. */
static void end(struct snapshot *snapshot)
{
	struct memory_keeper *keeper = snapshot->keeper;
	struct snapshot_place *next;

	snapshot_places_leave(&keeper->places, &snapshot->place);
	snapshot_free(snapshot);
	while (!keeper->stopped && (next = snapshot_places_next(&keeper->places)))
		begin(snapshot_of(next));
}

/* For a profile without slices: even if nothing was recorded, there is a profile. */
static void describe(struct builder *builder, const struct snapshot *snapshot)
{
	source_describe(sources[KIND_rss], snapshot->period, builder);
	builder_time(builder, snapshot->from_mono_ns,
	             snapshot->from_mono_ns + clock_wall_ns() - clock_mono_ns(),
	             snapshot->to_mono_ns - snapshot->from_mono_ns);
}

static int merge(struct snapshot *snapshot)
{
	_cleanup_(builder_freep) struct builder *builder = builder_new();
	int err;

	if (!builder)
		return -ENOMEM;
	err = select_merge(builder, snapshot->slices.profiles, snapshot->slices.count,
	                   &snapshot->selection);
	if (err)
		return err;
	if (!snapshot->slices.count)
		describe(builder, snapshot);
	return builder_seal(builder, &snapshot->what.profile);
}

/* Worker thread. */
static void run_merge(struct job *job)
{
	struct snapshot *snapshot =
		(struct snapshot *)((char *)job - offsetof(struct snapshot, job));

	snapshot->error = merge(snapshot);
}

static void on_merged(struct job *job)
{
	struct snapshot *snapshot =
		(struct snapshot *)((char *)job - offsetof(struct snapshot, job));
	struct memory_keeper *keeper = snapshot->keeper;

	if (snapshot->error) {
		keeper->failed += !keeper->stopped;
	} else if (!keeper->stopped) {
		keepsakes_add(keeper->keepsakes, &snapshot->what);
		snapshot->what.profile = NULL;
	}
	end(snapshot);
}

static void unlink_snapshot(struct snapshot *snapshot)
{
	if (snapshot->prev)
		snapshot->prev->next = snapshot->next;
	else
		snapshot->keeper->waiting = snapshot->next;
	if (snapshot->next)
		snapshot->next->prev = snapshot->prev;
}

static void on_boundary(struct cut *cut, uint64_t boundary_mono_ns)
{
	struct snapshot *snapshot =
		(struct snapshot *)((char *)cut - offsetof(struct snapshot, cut));
	struct memory_keeper *keeper = snapshot->keeper;
	int err;

	unlink_snapshot(snapshot);
	snapshot->to_mono_ns = boundary_mono_ns;
	snapshot->from_mono_ns =
		boundary_mono_ns > keeper->keep_ns ? boundary_mono_ns - keeper->keep_ns : 0;
	err = recorder_read(keeper->growth, snapshot->from_mono_ns, boundary_mono_ns,
	                    &snapshot->slices);
	snapshot->error = -ECANCELED;
	snapshot->job = (struct job){.run = run_merge, .done = on_merged};
	if (!err)
		err = lane_submit(keeper->lane, &snapshot->job);
	if (!err)
		return;
	keeper->failed++;
	end(snapshot);
}

void memory_keeper_init(struct memory_keeper *keeper)
{
	snapshot_places_init(&keeper->places);
}

void memory_keeper_release(struct memory_keeper *keeper)
{
	snapshot_places_release(&keeper->places);
	keepsakes_free(keeper->keepsakes);
}

static struct snapshot *snapshot_new(struct memory_keeper *keeper, const struct keepsake *what)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));

	if (!snapshot)
		return NULL;
	snapshot->period = keeper->source->period;
	snapshot->keeper = keeper;
	snapshot->place.owner = what->owner;
	snapshot->what = *what;
	snapshot->selection.pids[0] = what->pid;
	snapshot->selection.pid_count = 1;
	snapshot->selection.loops = LOOPS_KEPT;
	snapshot->selection.dims = true;
	snapshot->cut.done = on_boundary;
	return snapshot;
}

int memory_keeper_keep(struct memory_keeper *keeper, const struct keepsake *what)
{
	struct snapshot *snapshot;
	int err;

	if (keeper->stopped)
		return -EAGAIN;
	snapshot = snapshot_new(keeper, what);
	if (!snapshot)
		return -ENOMEM;
	err = snapshot_places_ask(&keeper->places, &snapshot->place);
	if (!err)
		begin(snapshot);
	if (!err || err == -EINPROGRESS)
		return 0;
	snapshot_free(snapshot);
	return err;
}

void memory_keeper_stop(struct memory_keeper *keeper)
{
	struct snapshot_place *place;

	keeper->stopped = true;
	while ((place = snapshot_places_forget(&keeper->places)))
		snapshot_free(snapshot_of(place));
	while (keeper->waiting) {
		struct snapshot *snapshot = keeper->waiting;

		heartbeat_cancel(keeper->heartbeat, &snapshot->cut);
		unlink_snapshot(snapshot);
		end(snapshot);
	}
}
