/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Two tables: processes by pid, and groups by path.
 */
#include "memory/timeline_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	STEP_MS = 1500, /* a change within this time since the last reading is a step */
	MAX_GROUPS = 4096,
};

/* Floors may take up to half of the whole. A single user, root included, may have half of that. */
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
	timeline->group_room.whole = MAX_GROUPS;
	return timeline;
}

void timeline_free(struct timeline *timeline)
{
	struct process *process, *next_process;
	struct group *group, *next_group;

	if (!timeline)
		return;
	HASH_ITER (hh, timeline->processes, process, next_process)
		timeline_drop_process(timeline, process);
	HASH_ITER (hh, timeline->groups, group, next_group)
		timeline_drop_group(timeline, group);
	timeline_forget_accounts(timeline);
	shares_clear(&timeline->room);
	shares_clear(&timeline->group_room);
	free(timeline);
}

static struct group *find_group(const struct timeline *timeline, const char *path)
{
	struct group *group;

	HASH_FIND_STR(timeline->groups, path, group);
	return group;
}

static struct group *new_group(struct timeline *timeline, const char *path, uint32_t user)
{
	struct timeline_account *account = timeline_account(timeline, user);
	struct group *group = account ? calloc(1, sizeof(*group)) : NULL;

	if (!group)
		return NULL;
	group->path = strdup(path);
	if (group->path) {
		group->account = account;
		group->seen.path = group->path;
		HASH_ADD_KEYPTR(hh, timeline->groups, group->path, strlen(group->path), group);
		if (group->hh.tbl)
			return group;
	}
	free(group->path);
	free(group);
	return NULL;
}

static struct group *add_group(struct timeline *timeline, const char *path, uint32_t user)
{
	struct group *group;

	if (!shares_take_beside_root(&timeline->group_room, user, 1))
		return NULL;
	group = new_group(timeline, path, user);
	if (group)
		group->account->groups++;
	else
		shares_give(&timeline->group_room, user, 1);
	return group;
}

const struct timeline_group *timeline_group(struct timeline *timeline, const char *path,
                                            uint32_t user, const struct control_group_usage *usage,
                                            uint64_t now_ms)
{
	struct series_point point = {.ms = now_ms};
	struct group *group = find_group(timeline, path);

	if (!group)
		group = add_group(timeline, path, user);
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

static struct process *add_process(struct timeline *timeline, const struct timeline_process *seen)
{
	struct timeline_account *account = timeline_account(timeline, seen->user);
	struct process *process;

	if (!account || !timeline_make_room(timeline, account))
		return NULL;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->seen.pid = seen->pid;
	process->seen.user = seen->user;
	process->seen.start_ticks = seen->start_ticks;
	growth_track_begin(&process->seen.track, &timeline->room, seen->pid, seen->seen_ms);
	HASH_ADD(hh, timeline->processes, seen.pid, sizeof(seen->pid), process);
	if (process->hh.tbl) {
		process->account = account;
		account->processes++;
		return process;
	}
	free(process);
	return NULL;
}

static void set_ended(struct process *process, bool ended)
{
	process->account->ended += ended;
	process->account->ended -= process->seen.ended;
	process->seen.ended = ended;
}

static void set_user(struct timeline *timeline, struct process *process, uint32_t user)
{
	struct timeline_account *account;

	if (process->seen.user == user)
		return;
	process->seen.user = user;
	account = timeline_account(timeline, user);
	if (!account)
		return;
	process->account->processes--;
	process->account->ended -= process->seen.ended;
	process->account = account;
	account->processes++;
	account->ended += process->seen.ended;
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

/* A change that is found after a rest may have happened at any time since the last reading. */
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
		timeline_drop_process(timeline, process);
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
	set_ended(process, false);
	process->seen.seen_ms = process->seen.alive_ms = seen->seen_ms;
	process->seen.figures = seen->figures;
	set_user(timeline, process, seen->user);
	if (process->seen.group != seen->group)
		hold_group(timeline, process, seen->group ? seen->group->path : NULL);
}

/* Forgets points older than keep_ms, and ended processes and unused groups that were last seen
 * before that. */
static void expire(struct timeline *timeline, uint64_t now_ms)
{
	const uint64_t keep_ms = timeline->limits.keep_ms;
	uint64_t from_ms = now_ms > keep_ms ? now_ms - keep_ms : 0;
	struct process *process, *next_process;
	struct group *group, *next_group;

	HASH_ITER (hh, timeline->processes, process, next_process) {
		if (process->seen.ended && process->seen.seen_ms < from_ms)
			timeline_drop_process(timeline, process);
		else
			series_expire(&process->seen.series, from_ms);
	}
	HASH_ITER (hh, timeline->groups, group, next_group) {
		if (!group->holders && group->seen.seen_ms < from_ms)
			timeline_drop_group(timeline, group);
		else
			series_expire(&group->seen.series, from_ms);
	}
}

void timeline_settle(struct timeline *timeline, uint64_t now_ms)
{
	struct process *process;

	for (process = timeline->processes; process; process = process->hh.next) {
		if (process->seen.alive_ms >= now_ms) {
			growth_track_judge(&process->seen.track, now_ms);
			continue;
		}
		set_ended(process, true);
		growth_track_end(&process->seen.track, &timeline->room);
	}
	expire(timeline, now_ms);
	timeline_shrink(timeline, now_ms);
	timeline_forget_accounts(timeline);
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
		.bytes = timeline_bytes(timeline),
		.evicted = timeline->evicted,
		.dropped = timeline->dropped,
	};

	for (struct process *process = timeline->processes; process; process = process->hh.next) {
		stats.leaking += process->seen.track.growth.leaking;
		stats.unjudged += process->seen.track.refused;
	}
	*ret_stats = stats;
}
