/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct memory_readings - the result of a reading of how much memory every process holds, and
 * every control group. It is owned by the reader (memory/reader.h) and valid until the next
 * reading.
 */
#pragma once

#include "memory/control_group.h"
#include "memory/figures.h"

#include <stddef.h>
#include <stdint.h>

enum {
	MEMORY_LOOK_MS = 4 * 1000,  /* interval of readings while no process is noted */
	MEMORY_REST_MS = 30 * 1000, /* the longest interval of readings of a process at rest */
};

#define MEMORY_NO_GROUP UINT32_MAX

struct memory_reading {
	uint32_t pid;
	struct memory_owner owner;     /* as of the first reading */
	uint32_t user;                 /* as in proc/owner.h; read with the figures */
	struct memory_figures figures; /* all unknown for a kernel thread */
	uint64_t read_ms;              /* when the figures were read */
	uint32_t group;                /* index in the readings' groups, or MEMORY_NO_GROUP */
};

struct memory_group_reading {
	const char *path;
	struct control_group_usage usage;
	uint32_t user; /* of the process through which the group became known */
};

struct memory_readings {
	const struct memory_reading *processes; /* sorted by pid */
	size_t process_count;
	const struct memory_group_reading *groups;
	size_t group_count;
	uint64_t groups_refused; /* how often the group of a process was not recorded for lack of
	                            room, since the reader was made */
	struct memory_host host;
};
