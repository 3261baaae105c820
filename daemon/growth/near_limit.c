/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The process that holds most is also the one that the kernel is most likely to kill.
 */
#include "growth/near_limit.h"

#include "base/cleanup.h"

#include <stdlib.h>

static const uint64_t pause_ms = 60 * 1000;

void near_limit_init(struct near_limit *near)
{
	near->remembered.whole = NEAR_REMEMBERED;
	near->at_once.whole = NEAR_AT_ONCE;
}

void near_limit_release(struct near_limit *near)
{
	shares_clear(&near->remembered);
	shares_clear(&near->at_once);
}

static void forget_old(struct near_limit *near, uint64_t now_ms)
{
	for (size_t i = 0; i < NEAR_REMEMBERED; i++) {
		if (!near->named[i].pid || now_ms - near->named[i].named_ms < pause_ms)
			continue;
		shares_give(&near->remembered, near->named[i].user, 1);
		near->named[i].pid = 0;
	}
}

/* Takes one from the user's share. False: the share is used up. */
static bool take_share(struct near_limit *near, uint32_t user)
{
	if (!shares_take_beside_root(&near->at_once, user, 1))
		return false;
	if (shares_take_beside_root(&near->remembered, user, 1))
		return true;
	shares_give(&near->at_once, user, 1);
	return false;
}

/* Names the process, if it may be named. False: it may not. */
static bool name(struct near_limit *near, const struct memory_reading *reading, uint64_t now_ms)
{
	size_t free_at = NEAR_REMEMBERED;

	for (size_t i = 0; i < NEAR_REMEMBERED; i++) {
		if (near->named[i].pid == reading->pid)
			return false;
		if (!near->named[i].pid)
			free_at = i;
	}
	if (free_at == NEAR_REMEMBERED || !take_share(near, reading->user))
		return false;
	near->named[free_at].pid = reading->pid;
	near->named[free_at].user = reading->user;
	near->named[free_at].named_ms = now_ms;
	return true;
}

struct named {
	struct near_limit *near;
	uint64_t now_ms;
	const struct memory_reading **at;
	size_t count;
};

static bool has(const struct named *named, const struct memory_reading *reading)
{
	for (size_t i = 0; i < named->count; i++)
		if (named->at[i] == reading)
			return true;
	return false;
}

static bool holds_more(const struct memory_reading *one, const struct memory_reading *other)
{
	return !other || memory_held(&one->figures) > memory_held(&other->figures);
}

static const struct memory_reading *largest(const struct memory_readings *readings,
                                            const struct named *but)
{
	const struct memory_reading *most = NULL;

	for (size_t i = 0; i < readings->process_count; i++)
		if (!has(but, &readings->processes[i]) && holds_more(&readings->processes[i], most))
			most = &readings->processes[i];
	return most;
}

/* The largest process of each group, or NULL. One pass finds all of them, because any user may have
 * many groups near their limits. NULL when out of memory. */
static const struct memory_reading **largest_of_groups(const struct memory_readings *readings)
{
	const struct memory_reading **most = calloc(readings->group_count, sizeof(const void *));

	for (size_t i = 0; most && i < readings->process_count; i++) {
		const struct memory_reading *reading = &readings->processes[i];

		if (reading->group < readings->group_count &&
		    holds_more(reading, most[reading->group]))
			most[reading->group] = reading;
	}
	return most;
}

static void add(struct named *named, const struct memory_reading *reading)
{
	if (reading && named->count < NEAR_AT_ONCE && name(named->near, reading, named->now_ms))
		named->at[named->count++] = reading;
}

static void add_of_host(struct named *named, const struct memory_readings *readings)
{
	const struct memory_host *host = &readings->host;
	const struct memory_reading *seen[NEAR_OF_HOST];
	struct named tried = {.at = seen};

	if (!host->total_bytes ||
	    host->available_bytes >= host->total_bytes / 100 * NEAR_HOST_PERCENT)
		return;
	/* Processes that were named lately are still among the largest, and count here. */
	while (tried.count < NEAR_OF_HOST) {
		const struct memory_reading *most = largest(readings, &tried);

		if (!most)
			return;
		tried.at[tried.count++] = most;
		if (!has(named, most))
			add(named, most);
	}
}

size_t near_limit_find(struct near_limit *near, const struct memory_readings *readings,
                       uint64_t now_ms, const struct memory_reading *ret_named[NEAR_AT_ONCE])
{
	struct named named = {.near = near, .now_ms = now_ms, .at = ret_named};
	_cleanup_free_ const struct memory_reading **most = largest_of_groups(readings);

	shares_clear(&near->at_once);
	forget_old(near, now_ms);
	for (uint32_t i = 0; most && i < readings->group_count; i++)
		if (control_group_near(&readings->groups[i].usage, NEAR_GROUP_PERCENT))
			add(&named, most[i]);
	add_of_host(&named, readings);
	return named.count;
}
