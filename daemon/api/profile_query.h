/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The parameters of a /profile request, read from its query. Pure; any thread.
 */
#pragma once

#include "api/format_query.h"
#include "capture/capture.h"

struct profile_query {
	struct capture_ask ask; /* the names of its selection point into the query */
	struct format_query format;
};

struct profile_bounds {
	uint64_t keep_ns;     /* how far back the history goes at most */
	uint64_t max_seconds; /* the largest seconds= */
};

/* For /profile and its aliases. */
extern const struct parameter profile_parameters[];

/* `query` has passed query_check() and must outlive the result. -EINVAL with `ret_refusal`. */
int profile_query_read(const struct query *query, uint64_t now_unix_ns,
                       const struct profile_bounds *bounds, struct profile_query *ret_profile,
                       struct refusal *ret_refusal);
