/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The time that is requested: seconds=, last=, or from= and to=. Pure; any thread.
 */
#pragma once

#include "capture/capture.h"
#include "http/query.h"

/* Entries of a table of struct parameter, beside that of seconds=: PARAMETER(name, values). */
#define PAST_PARAMETERS(PARAMETER)                                              \
	PARAMETER("last", "how far back the profile goes: 30s, 5m ...")         \
	PARAMETER("from", "the start of the profile: RFC 3339 or Unix seconds") \
	PARAMETER("to", "the end of the profile (default now)")

struct profile_bounds {
	uint64_t keep_ns;     /* how far back the history goes at most */
	uint64_t max_seconds; /* the largest seconds= */
};

/* Sets the range of `ask`. -EINVAL with `ret_refusal`. */
int range_query_read(const struct query *query, uint64_t now_unix_ns,
                     const struct profile_bounds *bounds, struct capture_ask *ask,
                     struct refusal *ret_refusal);
