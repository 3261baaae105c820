/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Shared by the files that implement struct gpu_feed: gpu_feed.c, and gpu_ends.c for memory that
 * goes without a free of its own.
 */
#pragma once

#include "gpu/gpu_feed.h"

/* Takes an allocation out of the sums and figures, after it has left its layer's table. */
void gpu_feed_let_go(struct gpu_feed *feed, enum gpu_layer layer,
                     const struct gpu_allocation *gone);
/* A free is counted when its allocation is no longer held, even if the event of the free is late or
 * lost. */
void gpu_feed_count_free(struct gpu_feed *feed, uint8_t device);

/* The context that an allocation ends with; 0: none, or not known. */
uint64_t gpu_ends_with(const struct gpu_event *event);
/* Whether the freed memory is physical memory that another handle or a mapping still keeps. */
bool gpu_ends_keeps(struct gpu_feed *feed, const struct gpu_event *event);
