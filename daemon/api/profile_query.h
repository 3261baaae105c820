/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The parameters of a /profile request, and of a /report, which is a profile of all time in formats
 * of its own, read from its query. Pure; any thread.
 */
#pragma once

#include "api/format_query.h"
#include "api/range_query.h"
#include "capture/capture.h"

struct profile_query {
	struct capture_ask ask; /* the names of its selection point into the query */
	struct format_query format;
	bool needs_waits; /* CPU time alone is no answer */
};

/* The type= that was asked for. */
const char *profile_query_type(const struct capture_ask *ask);

/* For /profile and its aliases. */
extern const struct parameter profile_parameters[];
extern const struct parameter report_parameters[];

/* `query` has passed query_check() and must outlive the result. -EINVAL with `ret_refusal`. */
int profile_query_read(const struct query *query, uint64_t now_unix_ns,
                       const struct profile_bounds *bounds, struct profile_query *ret_profile,
                       struct refusal *ret_refusal);
/* The same for /report. */
int report_query_read(const struct query *query, uint64_t now_unix_ns,
                      const struct profile_bounds *bounds, struct profile_query *ret_profile,
                      struct refusal *ret_refusal);
