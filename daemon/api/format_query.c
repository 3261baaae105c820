/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The parameters that determine how a profile is written.
 */
#include "api/format_query.h"

#include "api/elsewhere.h"
#include "http/query_value.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ROWS = 1000 * 1000 };

static int refuse_format(const char *format, struct refusal *ret_refusal)
{
	char list[256] = "";
	size_t len = 0;

	for (size_t i = 0; encoders[i] && len < sizeof(list); i++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "",
		                        encoders[i]->name);
	return refuse(ret_refusal, 400, "bad format=%.64s: one of %s is accepted%s", format, list,
	              elsewhere_hint("format", format));
}

static int read_grouping(const struct query *query, struct format_query *format,
                         struct refusal *ret_refusal)
{
	const char *by = query_get(query, "by");

	if (!by)
		return 0;
	if (!format->encoder->has_rows)
		return refuse(ret_refusal, 400,
		              "by=%.64s requires format=text; format=%s has no rows", by,
		              format->encoder->name);
	for (size_t i = 0; i < GROUPING_COUNT; i++) {
		if (!strcmp(by, grouping_names[i])) {
			format->options.by = (enum grouping)i;
			return 0;
		}
	}
	return refuse(ret_refusal, 400,
	              "bad by=%.64s: function, line, file, binary, process or thread is accepted",
	              by);
}

static int read_sort(const struct query *query, struct format_query *format,
                     struct refusal *ret_refusal)
{
	const char *sort = query_get(query, "sort");

	if (sort && strcmp(sort, "flat") != 0 && strcmp(sort, "cum") != 0)
		return refuse(ret_refusal, 400, "bad sort=%.64s: flat or cum is accepted", sort);
	format->options.sort = sort && !strcmp(sort, "cum") ? SORT_CUM : SORT_FLAT;
	return 0;
}

int format_query_read(const struct query *query, struct format_query *ret_format,
                      struct refusal *ret_refusal)
{
	const char *name = query_get(query, "format");
	struct format_query format = {.encoder = encoder_find(name ? name : "pprof")};
	uint64_t rows = 0;
	bool native = true;
	int err;

	if (!format.encoder)
		return refuse_format(name ? name : "pprof", ret_refusal);
	err = read_sort(query, &format, ret_refusal);
	if (!err)
		err = query_number(query, "rows", 0, MAX_ROWS, &rows, ret_refusal);
	if (!err)
		err = read_grouping(query, &format, ret_refusal);
	if (!err)
		err = query_switch(query, "native", &native, ret_refusal);
	if (err)
		return err;
	format.options.rows = (uint32_t)rows;
	format.no_native = !native;
	*ret_format = format;
	return 0;
}
