/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Captures. The kinds of range differ in how they get their ends:
 *   RANGE_NEXT      boundary, wait, boundary
 *   RANGE_LAST      boundary, so that the newest samples are included
 *   RANGE_SINCE     the same; it covers what happened, and not what is in use at its end
 *   RANGE_BETWEEN   boundary only when the end is about now
 * What a given or a last time has before the history in memory begins is read from a disk
 * (past/past.h), after everything else, so that the rest is as of the boundary.
 * When another range ends now and the kind of profile has a state of what is in use, one more slice
 * holds that state, taken at the boundary that ends the range: the recorded slices hold only what
 * happened.
 */
#include "capture/capture.h"

#include "base/clock.h"
#include "capture/capture_private.h"
#include "ingest/source.h"
#include "proc/proc.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static struct capture *capture_of(struct cut *cut)
{
	return (struct capture *)((char *)cut - offsetof(struct capture, cut));
}

/* Whether there is a second kind, that of CPU time. */
static bool has_second(const struct capture *capture)
{
	return capture->ask.selection.view == VIEW_wall;
}

/* Whether slices of that kind are read. */
static bool reads(const struct capture *capture, enum profile_kind kind)
{
	return kind == capture->ask.kind || (kind == KIND_cpu && has_second(capture)) ||
	       (capture->ask.more && report_needs(kind));
}

static void unhold(const struct capture *capture, size_t kind_count)
{
	for (size_t kind = 0; kind < kind_count; kind++)
		if (reads(capture, (enum profile_kind)kind))
			recorder_unhold(history_recorder(capture->from.history, kind),
			                capture->from_mono_ns);
}

/* Holds the boundary at which the capture begins. */
static int hold(const struct capture *capture)
{
	for (size_t kind = 0; kind < KIND_COUNT; kind++) {
		int err = 0;

		if (reads(capture, (enum profile_kind)kind))
			err = recorder_hold(history_recorder(capture->from.history, kind),
			                    capture->from_mono_ns);
		if (err) {
			unhold(capture, kind);
			return err;
		}
	}
	return 0;
}

/* Slices of an earlier boot, whose processes had other pids. */
static bool has_earlier_boot(const struct capture *capture)
{
	return capture->slices.count &&
	       mono_is_before(capture->slices.profiles[0]->start_mono_ns, 0);
}

static bool need_moment(struct capture *capture)
{
	if (!capture->moment)
		capture->moment = moment_get(capture->to_mono_ns);
	return capture->moment;
}

/* A filter on descendants needs the parents of the processes that run, and of those that ended
 * while the kept history was recorded: the slices do not have them. */
static int read_known(struct capture *capture)
{
	struct selection *selection = &capture->ask.selection;

	if (!selection->children || has_earlier_boot(capture))
		return 0;
	if (!need_moment(capture))
		return -ENOMEM;
	return moment_kinships(capture->moment, capture->from.procs, capture->account,
	                       &selection->known, &selection->known_count);
}

/* Makes room for `more` slices behind those that there are; NULL when out of memory. */
static struct profile **grow(struct slices *slices, size_t more)
{
	struct profile **grown =
		reallocarray(slices->profiles, slices->count + more, sizeof(*grown));

	if (!grown)
		return NULL;
	slices->profiles = grown;
	return grown + slices->count;
}

/* Appends what is in use now to the slices of what happened. */
static int add_state(struct capture *capture)
{
	struct slices *slices = &capture->slices;
	enum profile_kind kind = capture->ask.kind;
	struct profile **end;
	int err;

	if (!sources[kind]->in_use || !capture->ends_now)
		return 0;
	end = grow(slices, 1);
	if (!end || !need_moment(capture))
		return -ENOMEM;
	err = moment_in_use(capture->moment, capture->from.collector, kind, capture->account, end);
	if (!err)
		slices->count++;
	return err;
}

/* How much of the time is in no slice. The state is one of a moment. */
static uint64_t gap_of(const struct capture *capture)
{
	struct slices slices = capture->slices;

	slices.count -= capture->second_count + (slices.count && capture->facts.state);
	if (!slices.count)
		return capture->from.past && !capture->second_count
		               ? capture->facts.to_mono_ns - capture->facts.from_mono_ns
		               : 0;
	return capture->past.gap_ns + slices_gap(&slices);
}

/* The facts that the profile's comments state. */
static void read_facts(struct capture *capture)
{
	struct capture_facts *facts = &capture->facts;

	collector_source(capture->from.collector, capture->ask.kind, &facts->source);
	facts->kind = capture->ask.kind;
	facts->selection = &capture->ask.selection;
	facts->from_mono_ns = capture->from_mono_ns;
	facts->to_mono_ns = capture->to_mono_ns;
	facts->wall_offset_ns = clock_wall_ns() - clock_mono_ns();
	facts->unreadable = capture->past.unreadable;
	facts->past_err = capture->past_err;
	facts->empty = !capture->slices.count;
	facts->all = capture->ask.all;
	facts->state = sources[capture->ask.kind]->in_use && capture->ends_now;
	facts->gap_ns = gap_of(capture);
}

static void capture_end(struct capture *capture, int err)
{
	if (!err)
		err = read_known(capture);
	if (!err)
		read_facts(capture);
	capture->done(capture, err);
}

static void on_past(struct past_ask *ask, int err)
{
	struct capture *capture = (struct capture *)((char *)ask - offsetof(struct capture, past));

	capture_end(capture, capture_past_join(capture, err));
}

static void drop_before(struct slices *slices, uint64_t mono_ns)
{
	size_t first = slices_before(slices, mono_ns);

	for (size_t i = 0; i < first; i++)
		profile_unref(slices->profiles[i]);
	slices->count -= first;
	memmove(slices->profiles, slices->profiles + first,
	        slices->count * sizeof(*slices->profiles));
}

/* Adds slices of the second kind, of the time of which both are kept. */
static int add_second(struct capture *capture, struct slices *second)
{
	struct slices *slices = &capture->slices;
	struct profile **end;

	if (!second->count)
		return 0;
	if (slices->count) {
		uint64_t start = slices->profiles[0]->start_mono_ns;

		drop_before(slices, second->profiles[0]->start_mono_ns);
		drop_before(second, start);
	}
	end = grow(slices, second->count + 1);
	if (!end)
		return -ENOMEM;
	memcpy(end, second->profiles, second->count * sizeof(*end));
	slices->count += second->count;
	capture->second_count = second->count;
	second->count = 0;
	return 0;
}

/* Adds what was read of tasks, of the same time. */
static int add_tasks(struct capture *capture)
{
	struct slices *slices = &capture->slices;
	struct profile **end;

	if (!capture->tasks)
		return 0;
	end = grow(slices, 1);
	if (!end)
		return -ENOMEM;
	*end = capture->tasks;
	slices->count++;
	capture->tasks = NULL;
	capture->second_count++;
	return 0;
}

static uint64_t after_boot(uint64_t mono_ns)
{
	return mono_is_before(mono_ns, 0) ? 0 : mono_ns;
}

/* The rest of a report, of the time that its slices cover. */
static int read_more(struct capture *capture, uint64_t from, uint64_t to)
{
	const struct slices *slices = &capture->slices;
	struct report_time time = {from, to};

	if (slices->count)
		time.from_mono_ns = slices->profiles[0]->start_mono_ns;
	return report_more_read(capture->from.collector, capture->from.history,
	                        &capture->ask.selection, &time, &capture->more);
}

static void capture_read(struct capture *capture)
{
	uint64_t from = after_boot(capture->from_mono_ns), to = after_boot(capture->to_mono_ns);
	int err = recorder_read(history_recorder(capture->from.history, capture->ask.kind), from,
	                        to, &capture->slices);
	struct slices second = {0};

	if (!err && has_second(capture))
		err = recorder_read(history_recorder(capture->from.history, KIND_cpu), from, to,
		                    &second);
	if (!err)
		err = add_second(capture, &second);
	slices_release(&second);
	if (!err)
		err = add_tasks(capture);
	if (!err && capture->ask.more)
		err = read_more(capture, from, to);
	if (!err)
		err = add_state(capture);
	if (err || !capture_past_is_wanted(capture)) {
		capture_end(capture, err);
		return;
	}
	err = capture_past_ask(capture, on_past);
	if (err)
		capture_end(capture, capture_past_join(capture, err));
}

/* ---- boundaries ----------------------------------------------------------------------------- */

static void on_tasks(void *ctx, int err, struct profile *slice)
{
	struct capture *capture = ctx;

	capture->watch = NULL;
	capture->tasks = slice;
	if (err)
		capture->done(capture, err);
	else
		capture_read(capture);
}

static int watch_tasks(struct capture *capture)
{
	const struct task_watch_ask ask = {
		.pid = capture->ask.selection.pids[0],
		.account = capture->account,
		.from_mono_ns = capture->from_mono_ns,
		.to_mono_ns = capture->cut.at_mono_ns,
		.done = on_tasks,
		.ctx = capture,
	};

	return task_watch_start(capture->from.watches, &ask, &capture->watch);
}

static void capture_wait(struct capture *capture, uint64_t boundary_mono_ns)
{
	int err;

	capture->from_mono_ns = boundary_mono_ns;
	capture->cut.at_mono_ns = boundary_mono_ns + capture->ask.length_ns;
	err = hold(capture);
	capture->begun = !err;
	if (!err && capture->ask.selection.tasks)
		err = watch_tasks(capture);
	if (err) {
		capture->done(capture, err);
		return;
	}
	collector_cut(capture->from.collector, &capture->cut);
}

static void on_cut(struct cut *cut, uint64_t boundary_mono_ns)
{
	struct capture *capture = capture_of(cut);
	uint64_t length_ns = capture->ask.length_ns;

	switch (capture->ask.range) {
	case RANGE_NEXT:
		if (!capture->begun) {
			capture_wait(capture, boundary_mono_ns);
			return;
		}
		capture->to_mono_ns = boundary_mono_ns;
		break;
	case RANGE_LAST:
		capture->to_mono_ns = boundary_mono_ns;
		capture->from_mono_ns = boundary_mono_ns - length_ns;
		break;
	case RANGE_SINCE:
		capture->to_mono_ns = boundary_mono_ns;
		capture->from_mono_ns = capture->ask.since_mono_ns;
		break;
	case RANGE_BETWEEN:
		if (mono_is_before(boundary_mono_ns, capture->to_mono_ns))
			capture->to_mono_ns = boundary_mono_ns;
		break;
	}
	capture->ends_now = capture->ask.range != RANGE_SINCE;
	if (capture->watch)
		task_watch_end(capture->watch);
	else
		capture_read(capture);
}

/* Converts a wall-clock time to the monotonic clock. A time in the far future must not wrap. */
static uint64_t mono_of_wall(uint64_t unix_ns)
{
	uint64_t offset_ns = clock_wall_ns() - clock_mono_ns();

	return unix_ns > offset_ns && unix_ns - offset_ns > INT64_MAX / 2 ? INT64_MAX / 2
	                                                                  : unix_ns - offset_ns;
}

void capture_start(struct capture *capture)
{
	const struct capture_ask *ask = &capture->ask;

	capture->cut = (struct cut){.done = on_cut, .patient = ask->range == RANGE_NEXT};
	if (ask->range == RANGE_BETWEEN) {
		capture->from_mono_ns = mono_of_wall(ask->from_unix_ns);
		capture->to_mono_ns = mono_of_wall(ask->to_unix_ns);
		if (mono_is_before(capture->to_mono_ns + NSEC_PER_SEC, clock_mono_ns())) {
			capture_read(capture);
			return;
		}
	}
	collector_cut(capture->from.collector, &capture->cut);
}

void capture_cancel(struct capture *capture)
{
	if (capture->watch)
		task_watch_cancel(capture->watch);
	capture->watch = NULL;
	if (capture->past.past)
		past_release(&capture->past);
	else
		collector_cancel(capture->from.collector, &capture->cut);
}

void capture_plan(const struct capture *capture, struct render_plan *plan)
{
	plan->selection = &capture->ask.selection;
	plan->slices = capture->slices.profiles;
	plan->slice_count = capture->slices.count;
	plan->describe = capture_describe;
	plan->ctx = &capture->facts;
	plan->more = capture->ask.more ? &capture->more : NULL;
}

void capture_release(struct capture *capture)
{
	if (capture->ask.range == RANGE_NEXT && capture->begun)
		unhold(capture, KIND_COUNT);
	capture->begun = false;
	report_more_release(&capture->more);
	profile_unref(capture->tasks);
	capture->tasks = NULL;
	past_release(&capture->past);
	slices_release(&capture->slices);
	moment_unref(capture->moment);
	capture->moment = NULL;
	capture->ask.selection.known = NULL;
	capture->ask.selection.known_count = 0;
}
