/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Two tables, of processes by pid and of groups by path.
 */
#include "memory/timeline.h"

#include "base/accounts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

enum {
	STEP_MS = 1500, /* what was looked at so lately has changed just now */
	MAX_GROUPS = 4096,
};

struct group {
	struct timeline_group seen;
	char *path;
	size_t holders;
	UT_hash_handle hh;
};

struct process {
	struct timeline_process seen;
	struct group *group;
	UT_hash_handle hh;
};

struct timeline {
	struct timeline_limits limits;
	struct process *processes;
	struct group *groups;
	struct shares room; /* of floors; part of the limit */
	uint64_t evicted, dropped;
};

/* What is judged may take up to half of the whole: one user, root among them, may have half of
 * that. */
static size_t room_of(size_t max_bytes)
{
	return max_bytes / 2;
}

struct timeline *timeline_new(const struct timeline_limits *limits)
{
	struct timeline *timeline = calloc(1, sizeof(*timeline));

	if (!timeline)
		return NULL;
	timeline->limits = *limits;
	timeline->room.whole = room_of(limits->max_bytes);
	return timeline;
}

static void drop_process(struct timeline *timeline, struct process *process)
{
	if (process->group)
		process->group->holders--;
	HASH_DEL(timeline->processes, process);
	growth_track_end(&process->seen.track, &timeline->room);
	series_release(&process->seen.series);
	free(process);
}

static void drop_group(struct timeline *timeline, struct group *group)
{
	HASH_DEL(timeline->groups, group);
	series_release(&group->seen.series);
	free(group->path);
	free(group);
}

void timeline_free(struct timeline *timeline)
{
	struct process *process, *next_process;
	struct group *group, *next_group;

	if (!timeline)
		return;
	HASH_ITER (hh, timeline->processes, process, next_process)
		drop_process(timeline, process);
	HASH_ITER (hh, timeline->groups, group, next_group)
		drop_group(timeline, group);
	shares_clear(&timeline->room);
	free(timeline);
}

static struct group *find_group(const struct timeline *timeline, const char *path)
{
	struct group *group;

	HASH_FIND_STR(timeline->groups, path, group);
	return group;
}

static struct group *add_group(struct timeline *timeline, const char *path)
{
	struct group *group;

	if (HASH_COUNT(timeline->groups) >= MAX_GROUPS)
		return NULL;
	group = calloc(1, sizeof(*group));
	if (!group)
		return NULL;
	group->path = strdup(path);
	if (group->path) {
		group->seen.path = group->path;
		HASH_ADD_KEYPTR(hh, timeline->groups, group->path, strlen(group->path), group);
		if (group->hh.tbl)
			return group;
	}
	free(group->path);
	free(group);
	return NULL;
}

const struct timeline_group *timeline_group(struct timeline *timeline, const char *path,
                                            const struct control_group_usage *usage,
                                            uint64_t now_ms)
{
	struct series_point point = {.ms = now_ms};
	struct group *group = find_group(timeline, path);

	if (!group)
		group = add_group(timeline, path);
	if (!group) {
		timeline->dropped++;
		return NULL;
	}
	group->seen.usage = *usage;
	group->seen.seen_ms = now_ms;
	point.figures.values[MEMORY_rss_anon] = usage->bytes;
	timeline->dropped += series_add(&group->seen.series, &point) != 0;
	return &group->seen;
}

static struct process *find_process(const struct timeline *timeline, uint32_t pid)
{
	struct process *process;

	HASH_FIND(hh, timeline->processes, &pid, sizeof(pid), process);
	return process;
}

static size_t bytes_of_process(const struct process *process)
{
	return sizeof(*process) + series_bytes(&process->seen.series);
}

static size_t bytes_of_group(const struct group *group)
{
	return sizeof(*group) + strlen(group->path) + series_bytes(&group->seen.series);
}

static size_t bytes_of(const struct timeline *timeline)
{
	size_t bytes = timeline->room.taken;

	for (struct process *process = timeline->processes; process; process = process->hh.next)
		bytes += bytes_of_process(process);
	for (struct group *group = timeline->groups; group; group = group->hh.next)
		bytes += bytes_of_group(group);
	return bytes;
}

static bool is_of(const struct process *process, uint32_t account)
{
	return account_of(process->seen.user) == account;
}

/* The account whose processes take most; control groups are root's. */
static uint32_t account_with_most_bytes(const struct timeline *timeline)
{
	struct shares bytes = {0};
	uint64_t account = 0;

	for (struct process *process = timeline->processes; process; process = process->hh.next)
		shares_add(&bytes, process->seen.user, bytes_of_process(process));
	for (struct group *group = timeline->groups; group; group = group->hh.next)
		shares_add(&bytes, 0, bytes_of_group(group));
	shares_largest(&bytes, &account);
	shares_clear(&bytes);
	return (uint32_t)account;
}

static uint32_t account_with_most_ended(const struct timeline *timeline)
{
	struct shares ended = {0};
	uint64_t account = 0;

	for (struct process *process = timeline->processes; process; process = process->hh.next)
		shares_add(&ended, process->seen.user, process->seen.ended);
	shares_largest(&ended, &account);
	shares_clear(&ended);
	return (uint32_t)account;
}

static int compare_seen(const void *a, const void *b)
{
	const struct process *const *left = a, *const *right = b;
	uint64_t left_ms = (*left)->seen.seen_ms, right_ms = (*right)->seen.seen_ms;

	return (left_ms > right_ms) - (left_ms < right_ms);
}

/* The account's ended ones, those that ended longest ago first; NULL when there are none. */
static struct process **sort_ended(const struct timeline *timeline, uint32_t account,
                                   size_t *ret_count)
{
	struct process *process, **ended;
	size_t count = 0;

	for (process = timeline->processes; process; process = process->hh.next)
		count += process->seen.ended && is_of(process, account);
	ended = count ? calloc(count, sizeof(struct process *)) : NULL;
	*ret_count = ended ? count : 0;
	if (!ended)
		return NULL;
	count = 0;
	for (process = timeline->processes; process; process = process->hh.next)
		if (process->seen.ended && is_of(process, account))
			ended[count++] = process;
	qsort(ended, count, sizeof(struct process *), compare_seen);
	return ended;
}

/* Until no more are left than that, if so many of the account have ended. Sorted once, because tens
 * of thousands may end together. */
static void drop_ended(struct timeline *timeline, uint32_t account, size_t max_processes,
                       size_t max_bytes)
{
	size_t bytes = bytes_of(timeline), count;
	_cleanup_free_ struct process **ended = sort_ended(timeline, account, &count);

	for (size_t i = 0;
	     i < count && (HASH_COUNT(timeline->processes) > max_processes || bytes > max_bytes);
	     i++) {
		bytes -= bytes_of_process(ended[i]);
		drop_process(timeline, ended[i]);
		timeline->evicted++;
	}
}

/* For one more. Some are dropped at a time, for the same reason. */
static bool make_room(struct timeline *timeline)
{
	size_t max = timeline->limits.max_processes;

	if (HASH_COUNT(timeline->processes) >= max)
		drop_ended(timeline, account_with_most_ended(timeline), max - 1 - max / 16,
		           SIZE_MAX);
	return HASH_COUNT(timeline->processes) < max;
}

static struct process *add_process(struct timeline *timeline, const struct timeline_process *seen)
{
	struct process *process;

	if (!make_room(timeline))
		return NULL;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->seen.pid = seen->pid;
	process->seen.start_ticks = seen->start_ticks;
	growth_track_begin(&process->seen.track, &timeline->room, seen->pid, seen->seen_ms);
	HASH_ADD(hh, timeline->processes, seen.pid, sizeof(seen->pid), process);
	if (process->hh.tbl)
		return process;
	free(process);
	return NULL;
}

static void hold_group(struct timeline *timeline, struct process *process, const char *path)
{
	struct group *group = path ? find_group(timeline, path) : NULL;

	if (group)
		group->holders++;
	if (process->group)
		process->group->holders--;
	process->group = group;
	process->seen.group = group ? &group->seen : NULL;
}

/* A change after a rest may be of any time since it was looked at last. */
static int add_point(struct timeline *timeline, struct process *process,
                     const struct timeline_process *seen)
{
	const struct series_point point = {seen->seen_ms, seen->figures};
	uint32_t count = process->seen.series.count;
	uint64_t held_ms = process->seen.seen_ms;
	bool slope = count && seen->seen_ms - held_ms > STEP_MS &&
	             memcmp(&seen->figures, &process->seen.figures, sizeof(seen->figures)) != 0;
	int err = slope ? series_hold(&process->seen.series, held_ms) : 0;

	err = err ?: series_add(&process->seen.series, &point);
	growth_track_add(&process->seen.track, &timeline->room, seen->user, &process->seen.series,
	                 &point, slope);
	return err;
}

void timeline_alive(struct timeline *timeline, uint32_t pid, uint64_t now_ms)
{
	struct process *process = find_process(timeline, pid);

	if (process)
		process->seen.alive_ms = now_ms;
}

void timeline_process(struct timeline *timeline, const struct timeline_process *seen)
{
	struct process *process = find_process(timeline, seen->pid);

	if (process && process->seen.start_ticks != seen->start_ticks) {
		drop_process(timeline, process);
		process = NULL;
	}
	if (!process)
		process = add_process(timeline, seen);
	if (!process) {
		timeline->dropped++;
		return;
	}
	if (strcmp(process->seen.comm, seen->comm) != 0 || seen->fills) {
		snprintf(process->seen.comm, sizeof(process->seen.comm), "%s", seen->comm);
		growth_track_begin(&process->seen.track, &timeline->room, seen->pid, seen->seen_ms);
	}
	timeline->dropped += add_point(timeline, process, seen) != 0;
	process->seen.ended = false;
	process->seen.seen_ms = process->seen.alive_ms = seen->seen_ms;
	process->seen.figures = seen->figures;
	process->seen.user = seen->user;
	if (process->seen.group != seen->group)
		hold_group(timeline, process, seen->group ? seen->group->path : NULL);
}

/* Forgets what is older than is kept, and ended ones that were last seen before that. */
static void expire(struct timeline *timeline, uint64_t now_ms)
{
	const uint64_t keep_ms = timeline->limits.keep_ms;
	uint64_t from_ms = now_ms > keep_ms ? now_ms - keep_ms : 0;
	struct process *process, *next_process;
	struct group *group, *next_group;

	HASH_ITER (hh, timeline->processes, process, next_process) {
		if (process->seen.ended && process->seen.seen_ms < from_ms)
			drop_process(timeline, process);
		else
			series_expire(&process->seen.series, from_ms);
	}
	HASH_ITER (hh, timeline->groups, group, next_group) {
		if (!group->holders && group->seen.seen_ms < from_ms)
			drop_group(timeline, group);
		else
			series_expire(&group->seen.series, from_ms);
	}
}

static uint64_t oldest_of(const struct timeline *timeline, uint32_t account, uint64_t now_ms)
{
	uint64_t oldest_ms = now_ms;

	for (struct process *process = timeline->processes; process; process = process->hh.next)
		if (is_of(process, account) && process->seen.series.first.ms < oldest_ms)
			oldest_ms = process->seen.series.first.ms;
	return oldest_ms;
}

/* Forgets the oldest eighth of what the account has. */
static void shorten(struct timeline *timeline, uint32_t account, uint64_t now_ms)
{
	uint64_t oldest_ms = oldest_of(timeline, account, now_ms);
	uint64_t from_ms = oldest_ms + (now_ms - oldest_ms) / 8;

	for (struct process *process = timeline->processes; process; process = process->hh.next)
		if (is_of(process, account))
			series_expire(&process->seen.series, from_ms);
	for (struct group *group = timeline->groups; group && !account; group = group->hh.next)
		series_expire(&group->seen.series, from_ms);
}

/* Room that expired points leave in a series is used again but not given back at once, so little by
 * little is enough. */
static void shrink(struct timeline *timeline, uint64_t now_ms)
{
	const size_t max_bytes = timeline->limits.max_bytes;
	uint32_t account;

	if (bytes_of(timeline) <= max_bytes)
		return;
	account = account_with_most_bytes(timeline);
	drop_ended(timeline, account, SIZE_MAX, max_bytes);
	if (bytes_of(timeline) > max_bytes)
		shorten(timeline, account, now_ms);
}

void timeline_settle(struct timeline *timeline, uint64_t now_ms)
{
	struct process *process;

	for (process = timeline->processes; process; process = process->hh.next) {
		if (process->seen.alive_ms >= now_ms) {
			growth_track_judge(&process->seen.track, now_ms);
			continue;
		}
		process->seen.ended = true;
		growth_track_end(&process->seen.track, &timeline->room);
	}
	expire(timeline, now_ms);
	shrink(timeline, now_ms);
}

void timeline_resize(struct timeline *timeline, size_t max_bytes)
{
	timeline->limits.max_bytes = max_bytes;
	timeline->room.whole = room_of(max_bytes);
}

const struct timeline_process *timeline_find(const struct timeline *timeline, uint32_t pid)
{
	struct process *process = find_process(timeline, pid);

	return process ? &process->seen : NULL;
}

void timeline_each(const struct timeline *timeline, timeline_fn *fn, void *ctx)
{
	for (struct process *process = timeline->processes; process; process = process->hh.next)
		fn(&process->seen, ctx);
}

void timeline_get_stats(const struct timeline *timeline, struct timeline_stats *ret_stats)
{
	struct timeline_stats stats = {
		.processes = HASH_COUNT(timeline->processes),
		.groups = HASH_COUNT(timeline->groups),
		.bytes = bytes_of(timeline),
		.evicted = timeline->evicted,
		.dropped = timeline->dropped,
	};

	for (struct process *process = timeline->processes; process; process = process->hh.next) {
		stats.leaking += process->seen.track.growth.leaking;
		stats.unjudged += process->seen.track.refused;
	}
	*ret_stats = stats;
}
