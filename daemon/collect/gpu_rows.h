/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The rows of a drained half, in which the kernel half counts launches, copies and waits, as
 * samples. Loop thread only.
 */
#pragma once

#include "base/bounds.h"
#include "collect/drain.h"
#include "collect/gpu_feeds.h"
#include "collect/stacks.h"

struct gpu_rows {
	const struct drained *drained;
	const struct drain_tables *tables;
	struct gpu_feeds *feeds; /* whose names are asked, and whose figures get what was counted */
	struct stack_index index;
	struct drain_losses *losses;
	uint64_t words[MAX_STACK_FRAMES];
};

/* Adds the rows of KIND_gpu_launch, KIND_gpu_copy or KIND_gpu_wait to a builder that has their
 * types, and says how many calls they are. */
void gpu_rows_add(struct gpu_rows *rows, enum profile_kind kind, struct builder *builder,
                  uint64_t *ret_count);
