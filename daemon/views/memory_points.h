/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The timeline of a process's memory as JSON.
 */
#pragma once

#include "memory/timeline.h"

#include <jansson.h>

/* The names of a point's entries. NULL when out of memory, as for all functions here. */
json_t *memory_fields_json(void);
/* Points from `from_ms` on, such that straight lines between them are correct: where nothing
 * changed for long, there is a point at each end of that time. `wall_ms` is the wall clock minus
 * the timeline's clock. */
json_t *memory_points_json(const struct timeline_process *process, uint64_t from_ms,
                           uint64_t wall_ms);
/* The control group and its limit, or null. */
json_t *memory_group_json(const struct timeline_group *group);
/* How the process leaks, or null when it does not. */
json_t *memory_growth_json(const struct growth *growth, uint64_t wall_ms);
