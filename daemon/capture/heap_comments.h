/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The comments of a /heap answer. Render lane.
 */
#pragma once

#include "heap/heaps.h"
#include "profile/builder.h"

struct heap_facts {
	const struct heap_ask *ask;
	const struct heap_figures *figures;
	bool no_native; /* of struct selection */
	bool standing;  /* the process reports its own allocations; it was not watched */
};

/* For render_plan.describe; `ctx` is a struct heap_facts. */
void heap_describe(struct builder *builder, const void *ctx);
