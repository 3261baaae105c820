/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The parameters of a /heap request, read from its query. Pure; any thread.
 */
#pragma once

#include "api/format_query.h"
#include "heap/heaps.h"

struct heap_query {
	struct heap_ask ask;
	bool watch; /* seconds=, rate=, budget= or force= is given: probes are wanted, whatever the
	               process reports by itself */
	bool told;  /* to be answered only from what the process reports by itself */
	bool raw;   /* keep the allocator's own frames */
	struct format_query format;
};

extern const struct parameter heap_parameters[];

/* `query` has passed query_check(). -EINVAL with `ret_refusal`. */
int heap_query_read(const struct query *query, uint64_t max_seconds, struct heap_query *ret_heap,
                    struct refusal *ret_refusal);
