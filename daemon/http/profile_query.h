/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The parameters of a /profile request, read from its query. Pure; any thread.
 */
#pragma once

#include "bpf/abi.h"
#include "http/format_query.h"
#include "profile/select.h"

enum range_kind {
	RANGE_NEXT,    /* seconds=: from now on */
	RANGE_LAST,    /* last=: until now */
	RANGE_BETWEEN, /* from= and to= */
};

struct profile_query {
	enum profile_kind kind;
	enum range_kind range;
	uint64_t length_ns;                /* RANGE_NEXT, RANGE_LAST */
	uint64_t from_unix_ns, to_unix_ns; /* RANGE_BETWEEN */
	bool all; /* RANGE_LAST: everything that is kept, because no range was requested */
	struct selection selection; /* its names point into the query */
	struct format_query format;
};

/* The bounds of a request. */
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
