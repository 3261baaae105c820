/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Values of a query, each checked against its bounds.
 */
#include "http/query_value.h"

#include "base/clock.h"
#include "base/text.h"

#include <stdio.h>

int query_number(const struct query *query, const char *name, uint64_t min, uint64_t max,
                 uint64_t *value, struct refusal *ret_refusal)
{
	const char *text = query_get(query, name);

	if (text && text_parse_u64(text, min, max, value) < 0)
		return refuse(ret_refusal, 400,
		              "bad %s=%.64s: an integer from %ju to %ju is accepted", name, text,
		              (uintmax_t)min, (uintmax_t)max);
	return 0;
}

int query_pid(const struct query *query, uint32_t *ret_pid, struct refusal *ret_refusal)
{
	uint64_t pid = 0;
	int err;

	if (!query_get(query, "pid"))
		return refuse(ret_refusal, 400,
		              "pid= is missing: an integer from 1 to %d is accepted", MAX_TASK_ID);
	err = query_number(query, "pid", 1, MAX_TASK_ID, &pid, ret_refusal);
	*ret_pid = (uint32_t)pid;
	return err;
}

int query_switch(const struct query *query, const char *name, bool *value,
                 struct refusal *ret_refusal)
{
	uint64_t number = *value;
	int err = query_number(query, name, 0, 1, &number, ret_refusal);

	*value = number;
	return err;
}

int query_size(const struct query *query, const char *name, uint64_t min, uint64_t max,
               const char *accepted, uint64_t *value, struct refusal *ret_refusal)
{
	const char *text = query_get(query, name);
	uint64_t size;

	if (!text)
		return 0;
	if (text_parse_size(text, &size) < 0 || size < min || size > max)
		return refuse(ret_refusal, 400, "bad %s=%.64s: %s is accepted", name, text,
		              accepted);
	*value = size;
	return 0;
}

/* "100ms", "30s" */
static void format_duration(uint64_t ns, char text[32])
{
	bool whole = ns % NSEC_PER_SEC == 0;

	snprintf(text, 32, "%ju%s", (uintmax_t)(ns / (whole ? NSEC_PER_SEC : NSEC_PER_MSEC)),
	         whole ? "s" : "ms");
}

int query_duration(const struct query *query, const char *name, uint64_t min_ns, uint64_t max_ns,
                   uint64_t *value_ns, struct refusal *ret_refusal)
{
	const char *text = query_get(query, name);
	char min[32], max[32];
	uint64_t ns;

	if (!text)
		return 0;
	if (text_parse_duration(text, &ns) < 0 || ns < min_ns || ns > max_ns) {
		format_duration(min_ns, min);
		format_duration(max_ns, max);
		return refuse(ret_refusal, 400,
		              "bad %s=%.64s: a duration %s %s%s%s is accepted, such as 30s or 5m",
		              name, text, max_ns == UINT64_MAX ? "of at least" : "from", min,
		              max_ns == UINT64_MAX ? "" : " to ", max_ns == UINT64_MAX ? "" : max);
	}
	*value_ns = ns;
	return 0;
}
