/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct comparison - compares the walker's stacks with libdw's, frame by frame: how many frames
 * agree, and a list of the places where stacks differ.
 */
#pragma once

#include "base/cleanup.h"
#include "tests/bpf/live.h"

#include <stdio.h>

enum verdict {
	AGREED,
	BOTH_STOPPED,        /* after the same frames, before an outermost one */
	LIBDW_STOPPED_FIRST, /* the walker went on to an outermost frame */
	WE_STOPPED_FIRST,
	DIFFERED, /* another caller, or an outermost frame where the other walk goes on */
	VERDICTS,
};

struct comparison;

struct comparison *comparison_new(void); /* NULL when out of memory */
void comparison_free(struct comparison *comparison);
DEFINE_CLEANUP(struct comparison *, comparison_free)

enum verdict comparison_add(struct comparison *comparison, struct live *live,
                            const struct walker_result *ours, const struct libdw_stack *libdw);
void comparison_print(const struct comparison *comparison, FILE *out);
/* Percentage (0 to 100) of the compared frames, without the leaf, on which both walks agree. Frames
 * after the place where stacks differ count as disagreeing, unless libdw stopped first or both
 * stopped. */
double comparison_agreement(const struct comparison *comparison);
size_t comparison_stops(const struct comparison *comparison);
