/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Shared by the files that implement struct capture. What the time of a capture has before the
 * history in memory begins is read from a disk (past/past.h): capture_past.c.
 */
#pragma once

#include "capture/capture.h"

/* A time before the boot is below 0, and wraps. */
static inline bool mono_is_before(uint64_t mono_ns, uint64_t other_mono_ns)
{
	return (int64_t)(mono_ns - other_mono_ns) < 0;
}

/* How many slices are mostly before a time. */
size_t slices_before(const struct slices *slices, uint64_t mono_ns);
/* Whether the range begins before the history in memory, by more than a tenth of it or a window:
 * less than that is not worth the lower precision of what is on the disk. */
bool capture_past_is_wanted(const struct capture *capture);
/* As past_ask(); done() gets `capture->past`. */
int capture_past_ask(struct capture *capture, void (*done)(struct past_ask *ask, int err));
/* Puts what was read before the slices of the history. `err` is that of the reading. 0, or why
 * there is no answer. */
int capture_past_join(struct capture *capture, int err);
