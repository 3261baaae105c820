/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The parameters of /report.
 */
#include "api/profile_query.h"
#include "api/task_query.h"
#include "base/clock.h"
#include "encode/report.h"

#include <string.h>

#define DEFAULT_NS (60 * NSEC_PER_SEC)

#define PARAMETER(name, values) {name, false, values},
#define REPEATED(name, values)  {name, true, values},
const struct parameter report_parameters[] = {
	{"seconds", false, "report on the next N seconds, 1 to 600"},
	PAST_PARAMETERS(PARAMETER)
		TASK_PARAMETERS(REPEATED, PARAMETER){"format", false, "text (default), or json"},
	{NULL, false, NULL},
};
#undef REPEATED
#undef PARAMETER

static int read_format(const struct query *query, struct format_query *format,
                       struct refusal *ret_refusal)
{
	const char *name = query_get(query, "format");

	if (!name || !strcmp(name, encoder_report_text.name))
		format->encoder = &encoder_report_text;
	else if (!strcmp(name, encoder_report_json.name))
		format->encoder = &encoder_report_json;
	else
		return refuse(ret_refusal, 400, "bad format=%.64s: text or json is accepted", name);
	return 0;
}

int report_query_read(const struct query *query, uint64_t now_unix_ns,
                      const struct profile_bounds *bounds, struct profile_query *ret_profile,
                      struct refusal *ret_refusal)
{
	struct profile_query profile = {0};
	int err = range_query_read(query, now_unix_ns, bounds, &profile.ask, ret_refusal);

	if (!err)
		err = task_query_read(query, &profile.ask.selection, ret_refusal);
	if (!err)
		err = read_format(query, &profile.format, ret_refusal);
	if (err)
		return err;
	if (profile.ask.range == RANGE_NEXT && !query_get(query, "seconds")) {
		profile.ask.range = RANGE_LAST;
		profile.ask.length_ns = bounds->keep_ns < DEFAULT_NS ? bounds->keep_ns : DEFAULT_NS;
	}
	profile.ask.selection.view = VIEW_wall;
	profile.ask.selection.locks = LOCKS_KEPT;
	profile.needs_waits = true;
	profile.ask.more = true;
	profile.ask.kind = KIND_offcpu;
	*ret_profile = profile;
	return 0;
}
