/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The query part of a request's address: raw bytes in, names and values out. Pure; any thread. It
 * is parsed here and not by libmicrohttpd so that what is wrong with it can be said.
 */
#pragma once

#include "base/bounds.h"
#include "http/refusal.h"

#include <stdbool.h>
#include <stddef.h>

/* Room for every repeatable parameter at its limit, and the others. */
enum { MAX_QUERY_PAIRS = 8 * MAX_QUERY_VALUES };

/* What a route accepts. A table of them ends with a NULL name. */
struct parameter {
	const char *name;
	bool repeatable;
	const char *values; /* what it takes, for people */
};

struct query_pair {
	const char *name, *value; /* decoded; they point into the query's `bytes` */
};

struct query {
	char *bytes;
	struct query_pair *pairs;
	size_t count;
};

/* Parses the `len` bytes behind the question mark. -EINVAL with `ret_refusal`, -ENOMEM. The caller
 * releases the query. */
int query_parse(const char *raw, size_t len, struct query *ret_query, struct refusal *ret_refusal);
void query_release(struct query *query);

/* -EINVAL when the query has a parameter that `accepted` lacks, or one twice that is not
 * repeatable. */
int query_check(const struct query *query, const struct parameter *accepted,
                struct refusal *ret_refusal);
/* The value of the first parameter of that name, or NULL. */
const char *query_get(const struct query *query, const char *name);
