/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct report_more - what a report needs beside a profile of all time: slices of other kinds, and
 * the memory of all processes. Read on the loop thread; added up on the render lane.
 */
#pragma once

#include "bpf/abi.h"
#include "collect/collector.h"
#include "encode/report_figures.h"
#include "memory/timeline_ends.h"
#include "profile/history.h"
#include "profile/selection.h"

/* The kinds that REPORT_SUMS names. */
bool report_needs(enum profile_kind kind);

struct report_more {
	struct slices slices[KIND_COUNT];
	bool is_on[KIND_COUNT];
	struct memory_ends *ends; /* NULL: not known */
};

struct report_time {
	uint64_t from_mono_ns, to_mono_ns;
};

/* 0 or negative errno. The result must be released in any case. Loop thread, also the release. */
int report_more_read(const struct collector *collector, const struct history *history,
                     const struct selection *selection, const struct report_time *time,
                     struct report_more *ret_more);
void report_more_release(struct report_more *more);
/* `profile` has the processes whose memory counts. Any thread. 0 or -ENOMEM. */
int report_more_sum(const struct report_more *more, const struct selection *selection,
                    const struct profile *profile, struct report_figures *ret_figures);
