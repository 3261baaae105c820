/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What CPU time each process, or each thread of one process, used in each step of a span of time.
 * cpu_timeline_build() and cpu_timeline_query_read() are pure; any thread.
 */
#pragma once

#include "http/query.h"
#include "profile/profile.h"

#include <stdint.h>

enum {
	MAX_TIMELINE_STEPS = 1200, /* more than a screen has columns for */
	MAX_TIMELINE_TOP = 100,
};

struct cpu_timeline_query {
	uint64_t length_ns, step_ns;
	uint32_t pid; /* 0: by process; else by thread of this one */
	uint32_t top; /* how many rows; what the others used is added up */
};

/* The steps that are asked about: `steps` of them, the first from `from_mono_ns` on. */
struct cpu_timeline_span {
	uint64_t from_mono_ns, step_ns;
	size_t steps;
};

struct cpu_timeline_row {
	uint32_t pid, tid; /* tid: only by thread */
	const char *name;  /* of the process or the thread; points into a slice */
	uint64_t total;    /* nanoseconds, within the span */
	uint64_t *cpu;     /* nanoseconds, for each step */
};

/* Rows with the most CPU time first. */
struct cpu_timeline {
	struct cpu_timeline_row *rows;
	size_t count;
	uint64_t *other; /* for each step, what has no row */
	uint64_t *cells; /* where the rows' numbers are */
};

extern const struct parameter cpu_timeline_parameters[];

/* `query` has passed query_check(). -EINVAL with `ret_refusal`. */
int cpu_timeline_query_read(const struct query *query, uint64_t keep_ns,
                            struct cpu_timeline_query *ret_ask, struct refusal *ret_refusal);

/* The samples of a slice count for each step by how much of the slice lies in it. No time is lost
 * or counted twice within the span; what lies outside it is left out. 0 or -ENOMEM. The caller
 * releases the timeline before the slices. */
int cpu_timeline_build(const struct cpu_timeline_query *ask, const struct cpu_timeline_span *span,
                       struct profile *const *slices, size_t slice_count,
                       struct cpu_timeline *ret_timeline);
void cpu_timeline_release(struct cpu_timeline *timeline);
