/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The CPU time that each process, or each thread of one process, used in each step of a span of
 * time. cpu_timeline_build() and cpu_timeline_query_read() are pure; any thread.
 */
#pragma once

#include "http/query.h"
#include "profile/profile.h"

#include <stdint.h>

enum {
	MAX_TIMELINE_STEPS = 1200, /* more than a screen has columns */
	MAX_TIMELINE_TOP = 100,
};

struct cpu_timeline_query {
	uint64_t length_ns, step_ns;
	uint32_t pid; /* 0: rows are processes; else threads of this process */
	uint32_t top; /* number of rows; the rest is added up */
};

/* The requested steps: `steps` of them; the first begins at `from_mono_ns`. */
struct cpu_timeline_span {
	uint64_t from_mono_ns, step_ns;
	size_t steps;
};

struct cpu_timeline_row {
	uint32_t pid, tid; /* tid: 0 when rows are processes */
	const char *name;  /* of the process or the thread; points into a slice */
	uint64_t total;    /* nanoseconds, within the span */
	uint64_t *cpu;     /* nanoseconds, for each step */
};

/* Rows with the most CPU time first. */
struct cpu_timeline {
	struct cpu_timeline_row *rows;
	size_t count;
	uint64_t *other; /* for each step, the time without a row */
	uint64_t *cells; /* memory of the rows' numbers */
};

extern const struct parameter cpu_timeline_parameters[];

/* `query` has passed query_check(). -EINVAL with `ret_refusal`. */
int cpu_timeline_query_read(const struct query *query, uint64_t keep_ns,
                            struct cpu_timeline_query *ret_ask, struct refusal *ret_refusal);

/* A slice's samples are split between steps by how much of the slice lies in each. Within the span
 * no time is lost or counted twice; time outside the span is left out. 0 or -ENOMEM. The caller
 * releases the timeline before the slices. */
int cpu_timeline_build(const struct cpu_timeline_query *ask, const struct cpu_timeline_span *span,
                       struct profile *const *slices, size_t slice_count,
                       struct cpu_timeline *ret_timeline);
void cpu_timeline_release(struct cpu_timeline *timeline);
