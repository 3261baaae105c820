/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Between the files behind select.h: select.c goes over slices, select_slice.c merges each.
 */
#pragma once

#include "profile/filter.h"
#include "profile/select.h"

/* Adds the samples of a slice that the filter keeps, its comments and its ticks. `at_ms` is added
 * to that of its tasks. 0 or -ENOMEM. */
int select_merge_slice(struct builder *into, const struct profile *slice,
                       const struct filter *filter, uint32_t at_ms);
