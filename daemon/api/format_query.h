/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The form in which a profile is requested: native=, format=, by=, sort= and rows=, which every
 * endpoint that answers with a profile accepts. Pure; any thread.
 */
#pragma once

#include "encode/encoder.h"
#include "http/query.h"

/* Entries of a table of struct parameter: PARAMETER(name, values). */
#define FORMAT_PARAMETERS(PARAMETER)                                                            \
	PARAMETER("native", "0 shows interpreted code alone (default 1)")                       \
	PARAMETER("format", "the output format (default pprof)")                                \
	PARAMETER("by",                                                                         \
	          "for format=text: function (default), line, file, binary, process or thread") \
	PARAMETER("sort", "for format=text: flat (default) or cum")                             \
	PARAMETER("rows", "for format=text: the number of rows; 0 (default) is all")

struct format_query {
	const struct encoder *encoder;
	struct encode_options options; /* without source_line */
	bool no_native;                /* of struct selection */
};

/* `query` has passed query_check(). -EINVAL with `ret_refusal`. */
int format_query_read(const struct query *query, struct format_query *ret_format,
                      struct refusal *ret_refusal);
