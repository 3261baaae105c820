/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How much memory the processes of a timeline held at the beginning and at the end of a time. Loop
 * thread.
 */
#pragma once

#include "base/buf.h"
#include "memory/timeline.h"

struct timeline_ends {
	uint32_t pid;
	/* Resident memory, as of the last reading before. 0 before the process began and after it
	 * ended. What it held before its first reading is taken to be what that found. */
	uint64_t from_bytes, to_bytes;
};

/* Appends the ends of all processes that existed in that time. Times are CLOCK_MONOTONIC. */
void timeline_add_ends(const struct timeline *timeline, uint64_t from_mono_ns, uint64_t to_mono_ns,
                       struct buf *out);
/* The same of one process. */
void timeline_add_ends_of(const struct timeline *timeline, uint32_t pid, uint64_t from_mono_ns,
                          uint64_t to_mono_ns, struct buf *out);
