/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Whoever holds most is whom the kernel is most likely to choose, too.
 */
#include "collect/near_limit.h"

static const uint64_t pause_ms = 60 * 1000;

/* True when it may be named, and is from now on. */
static bool name(struct near_limit *near, uint32_t pid, uint64_t now_ms)
{
	size_t free_at = NEAR_REMEMBERED;

	for (size_t i = 0; i < NEAR_REMEMBERED; i++) {
		bool lately = near->named[i].pid && now_ms - near->named[i].named_ms < pause_ms;

		if (lately && near->named[i].pid == pid)
			return false;
		if (!lately)
			free_at = i;
	}
	if (free_at == NEAR_REMEMBERED)
		return false;
	near->named[free_at].pid = pid;
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

/* MEMORY_NO_GROUP: in any group. */
static const struct memory_reading *largest(const struct memory_readings *readings, uint32_t group,
                                            const struct named *but)
{
	const struct memory_reading *most = NULL;

	for (size_t i = 0; i < readings->process_count; i++) {
		const struct memory_reading *reading = &readings->processes[i];

		if (group != MEMORY_NO_GROUP && reading->group != group)
			continue;
		if (!has(but, reading) &&
		    (!most || memory_held(&reading->figures) > memory_held(&most->figures)))
			most = reading;
	}
	return most;
}

static void add(struct named *named, const struct memory_reading *reading)
{
	if (reading && named->count < NEAR_AT_ONCE &&
	    name(named->near, reading->pid, named->now_ms))
		named->at[named->count++] = reading;
}

static void add_of_host(struct named *named, const struct memory_readings *readings)
{
	const struct memory_host *host = &readings->host;
	const struct memory_reading *seen[NEAR_AT_ONCE];
	struct named tried = {.at = seen};

	if (!host->total_bytes ||
	    host->available_bytes >= host->total_bytes / 100 * NEAR_HOST_PERCENT)
		return;
	/* Those that were named lately are among the largest still. */
	while (tried.count < NEAR_AT_ONCE) {
		const struct memory_reading *most = largest(readings, MEMORY_NO_GROUP, &tried);

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

	for (uint32_t i = 0; i < readings->group_count; i++)
		if (control_group_near(&readings->groups[i].usage, NEAR_GROUP_PERCENT))
			add(&named, largest(readings, i, &named));
	add_of_host(&named, readings);
	return named.count;
}
