/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The timeline of a process's memory as JSON.
 */
#pragma once

#include "memory/timeline.h"

#include <jansson.h>

/* The names of a point's entries. NULL when out of memory, as everywhere here. */
json_t *memory_fields_json(void);
/* Points from `from_ms` on, such that straight lines between them tell the truth: where nothing
 * changed for long, there is one at either end of that. `wall_ms` is what the wall clock is ahead
 * of the timeline's. */
json_t *memory_points_json(const struct timeline_process *process, uint64_t from_ms,
                           uint64_t wall_ms);
/* The group and its limit, or null. */
json_t *memory_group_json(const struct timeline_group *group);
/* How it leaks, or null when it does not. */
json_t *memory_growth_json(const struct growth *growth, uint64_t wall_ms);
