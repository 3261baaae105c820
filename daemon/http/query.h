/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The query part of a request's URL: raw bytes in, names and values out. Pure; any thread. It is
 * parsed here and not by libmicrohttpd so that a refusal can say what is wrong with it.
 */
#pragma once

#include "base/bounds.h"
#include "http/refusal.h"

#include <stdbool.h>
#include <stddef.h>

/* Room for every repeatable parameter at its limit, and for the others. */
enum { MAX_QUERY_PAIRS = 8 * MAX_QUERY_VALUES };

/* A parameter that a route accepts. A table of them ends with a NULL name. */
struct parameter {
	const char *name;
	bool repeatable;
	const char *values; /* the accepted values, for people */
};

struct query_pair {
	const char *name, *value; /* decoded; both point into the query's `bytes` */
};

struct query {
	char *bytes;
	struct query_pair *pairs;
	size_t count;
};

/* Parses the `len` bytes after the question mark. -EINVAL with `ret_refusal`, -ENOMEM. The caller
 * releases the query. */
int query_parse(const char *raw, size_t len, struct query *ret_query, struct refusal *ret_refusal);
void query_release(struct query *query);

/* -EINVAL when the query has a parameter that `accepted` lacks, or a parameter twice that is not
 * repeatable. */
int query_check(const struct query *query, const struct parameter *accepted,
                struct refusal *ret_refusal);
/* The value of the first parameter of that name, or NULL. */
const char *query_get(const struct query *query, const char *name);
