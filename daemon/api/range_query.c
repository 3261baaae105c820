/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "api/range_query.h"

#include "base/clock.h"
#include "base/text.h"
#include "http/query_value.h"

#include <string.h>

enum { DEFAULT_SECONDS = 30 }; /* as in net/http/pprof; its clients' time-outs expect it */

/* In a query '+' means a blank, but the '+' before a time zone is meant literally. */
static int parse_time(const char *text, uint64_t *ret_unix_ns)
{
	char plain[64];
	size_t len = strlen(text);

	if (len >= sizeof(plain))
		return -1;
	memcpy(plain, text, len + 1);
	for (size_t i = sizeof("2026-11-21T") - 1; i < len; i++)
		if (plain[i] == ' ')
			plain[i] = '+';
	return text_parse_time(plain, ret_unix_ns);
}

static int read_between(const struct query *query, uint64_t now_unix_ns, struct capture_ask *ask,
                        struct refusal *ret_refusal)
{
	static const char accepted[] = "RFC 3339 or Unix seconds is accepted";
	const char *from = query_get(query, "from");
	const char *to = query_get(query, "to");

	ask->range = RANGE_BETWEEN;
	ask->to_unix_ns = now_unix_ns;
	if (!from)
		return refuse(ret_refusal, 400, "to= requires from=: %s", accepted);
	if (parse_time(from, &ask->from_unix_ns) < 0)
		return refuse(ret_refusal, 400, "bad from=%.64s: %s", from, accepted);
	if (to && parse_time(to, &ask->to_unix_ns) < 0)
		return refuse(ret_refusal, 400, "bad to=%.64s: %s", to, accepted);
	if (ask->from_unix_ns > now_unix_ns)
		return refuse(ret_refusal, 400,
		              "from=%.64s is in the future; use seconds= to profile from now on",
		              from);
	if (ask->from_unix_ns >= ask->to_unix_ns)
		return refuse(ret_refusal, 400, "from=%.64s must be before to=%.64s", from,
		              to ? to : "now");
	return 0;
}

int range_query_read(const struct query *query, uint64_t now_unix_ns,
                     const struct profile_bounds *bounds, struct capture_ask *ask,
                     struct refusal *ret_refusal)
{
	const char *seconds = query_get(query, "seconds");
	const char *last = query_get(query, "last");
	bool between = query_get(query, "from") || query_get(query, "to");
	uint64_t max = bounds->max_seconds, count = max < DEFAULT_SECONDS ? max : DEFAULT_SECONDS;
	int err;

	if (!!seconds + !!last + between > 1)
		return refuse(ret_refusal, 400,
		              "seconds=, last= and from=/to= exclude each other; one is accepted");
	if (between)
		return read_between(query, now_unix_ns, ask, ret_refusal);
	if (last) {
		ask->range = RANGE_LAST;
		return query_duration(query, "last", NSEC_PER_SEC, bounds->keep_ns, &ask->length_ns,
		                      ret_refusal);
	}
	ask->range = RANGE_NEXT;
	err = query_number(query, "seconds", 1, max, &count, ret_refusal);
	ask->length_ns = count * NSEC_PER_SEC;
	return err;
}
