/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The rows of a drained half as samples. In these rows the kernel half counts launches, copies and
 * waits. Loop thread only.
 */
#pragma once

#include "gpu/gpu_feeds.h"
#include "ingest/drain.h"

/* Adds the rows of KIND_gpu_launch, KIND_gpu_copy or KIND_gpu_wait to a builder that has the kind's
 * types, and returns how many calls they are. Names come from the feeds, and the counts are added
 * to the feeds' figures. */
void gpu_rows_add(struct half *half, struct gpu_feeds *feeds, enum profile_kind kind,
                  struct builder *builder, uint64_t *ret_count);
