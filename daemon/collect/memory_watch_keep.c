/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A snapshot on its way: waiting for a boundary, then on the lane, then in the keepsakes.
 */
#include "collect/memory_watch_keep.h"

#include "base/clock.h"
#include "base/lane.h"
#include "collect/collector.h"
#include "collect/source.h"
#include "proc/owner.h"
#include "profile/select.h"

#include <errno.h>
#include <stddef.h>

struct snapshot {
	struct memory_keeper *keeper;
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

static void snapshot_free(struct snapshot *snapshot)
{
	snapshot->keeper->under_way--;
	slices_release(&snapshot->slices);
	profile_unref(snapshot->what.profile);
	free(snapshot);
}

/* Where nothing is recorded, that is a profile, too. */
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
	snapshot_free(snapshot);
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
	snapshot_free(snapshot);
}

int memory_keeper_keep(struct memory_keeper *keeper, const struct keepsake *what)
{
	struct source_status source = {0};
	struct snapshot *snapshot;

	if (keeper->stopped || keeper->under_way >= MAX_SNAPSHOTS)
		return -EAGAIN;
	snapshot = calloc(1, sizeof(*snapshot));
	if (!snapshot)
		return -ENOMEM;
	collector_source(keeper->collector, KIND_rss, &source);
	snapshot->period = source.period;
	snapshot->keeper = keeper;
	snapshot->what = *what;
	snapshot->what.owner = owner_read(what->pid);
	snapshot->selection.pids[0] = what->pid;
	snapshot->selection.pid_count = 1;
	snapshot->selection.loops = LOOPS_KEPT;
	snapshot->selection.dims = true;
	snapshot->cut.done = on_boundary;
	snapshot->next = keeper->waiting;
	if (keeper->waiting)
		keeper->waiting->prev = snapshot;
	keeper->waiting = snapshot;
	keeper->under_way++;
	collector_cut(keeper->collector, &snapshot->cut);
	return 0;
}

void memory_keeper_stop(struct memory_keeper *keeper)
{
	keeper->stopped = true;
	while (keeper->waiting) {
		struct snapshot *snapshot = keeper->waiting;

		collector_cancel(keeper->collector, &snapshot->cut);
		unlink_snapshot(snapshot);
		snapshot_free(snapshot);
	}
}
