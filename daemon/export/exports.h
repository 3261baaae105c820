/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct exports - has what is recorded exported at regular times: all kinds that are on, one after
 * the other, so that it takes the memory of one profile at a time. The intervals of a kind are next
 * to each other: each begins at the boundary at which the last exported one ended. So a profile
 * that could not be put is in the next one of its kind, for as long as the history keeps it. One
 * that is too large is left out. Loop thread only.
 */
#pragma once

#include "base/lane.h"
#include "capture/capture.h"
#include "export/exporter.h"
#include "past/past.h"

#include <uv.h>

#define EXPORTS_STATS(STAT)                                                                 \
	STAT(profiles, counter, "Profiles exported")                                        \
	STAT(bytes, counter, "Bytes of exported profiles")                                  \
	STAT(failed, counter,                                                               \
	     "Profiles that could not be exported; unless they were too large, "            \
	     "the next one of the kind contains what they had")                             \
	STAT(unreadable, counter, "Files of exported profiles that could not be read back") \
	STAT(late, counter,                                                                 \
	     "Times that the exporter was still busy when the next profiles were "          \
	     "due")

struct exports_stats {
#define STAT(name, type, help) uint64_t name;
	EXPORTS_STATS(STAT)
#undef STAT
};

/* All of it outlives the exports. */
struct exports_config {
	uv_loop_t *loop;
	const char *target; /* "NAME:PLACE"; see exporter_find() */
	uint64_t every_ns, max_bytes;
	struct capture_from from;
	struct symbolizer *symbolizer;
	struct lane *render;
	const struct utsname *host;
};

struct exports;

/* NULL when out of memory. The target must have an exporter. */
struct exports *exports_new(const struct exports_config *config);
void exports_start(struct exports *exports);
/* Exports what was recorded until now, once more and for the last time, then calls fn(). */
void exports_finish(struct exports *exports, void (*fn)(void *ctx), void *ctx);
/* The loop must then run until all handles are closed. The render lane must be stopped, too. */
void exports_stop(struct exports *exports); /* accepts NULL */
void exports_free(struct exports *exports); /* after the loop has ended; accepts NULL */
/* What was exported earlier; NULL if it cannot be read back. */
struct past *exports_past(struct exports *exports); /* accepts NULL */
void exports_get_stats(const struct exports *exports, struct exports_stats *ret_stats);
