/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An output format: a sealed profile in, bytes out. An encoder sees the profile, the options and a
 * buffer, and nothing else: no files, no sockets, no clock. Source text comes through a function
 * that it is given. The same profile gives the same bytes. Any thread. A new format is one file and
 * one line in ENCODERS.
 */
#pragma once

#include "base/buf.h"
#include "encode/report_figures.h"
#include "profile/profile.h"

enum sort_order { SORT_FLAT, SORT_CUM };

/* What the rows of a table are: GROUPING(name, plural). */
#define GROUPINGS(GROUPING)           \
	GROUPING(function, functions) \
	GROUPING(line, lines)         \
	GROUPING(file, files)         \
	GROUPING(binary, binaries)    \
	GROUPING(process, processes)  \
	GROUPING(thread, threads)

#define GROUPING(name, plural) BY_##name,
enum grouping { GROUPINGS(GROUPING) GROUPING_COUNT };
#undef GROUPING

extern const char *const grouping_names[GROUPING_COUNT];

/* The text of a source line, which may hold any bytes; NULL if there is none. Valid until the next
 * call. */
typedef const char *source_line_fn(void *ctx, const char *file, uint32_t line);

struct encode_options {
	enum sort_order sort;        /* of tables */
	uint32_t rows;               /* of tables; 0 is all */
	enum grouping by;            /* of tables */
	source_line_fn *source_line; /* for tables of lines; NULL: there is no source text */
	void *source_ctx;
	const struct report_figures *figures; /* for reports; NULL: none are known */
};

struct encoder {
	const char *name;    /* /profile?format=NAME */
	const char *summary; /* one line for the index page and --help */
	const char *content_type;
	/* Of a downloaded file, with its dot; "" if the output is meant to be read at once. */
	const char *suffix;
	bool has_rows; /* is a table: takes by, sort and rows */
	bool timed;    /* shows when samples were taken: needs tasks distinguished by at_ms */
	bool accounts; /* uses accounts: needs tasks distinguished by account */
	int (*encode)(const struct profile *profile, const struct encode_options *options,
	              struct buf *out);
};

#define ENCODERS(ENCODER) ENCODER(pprof) ENCODER(perfetto) ENCODER(folded) ENCODER(text)

#define ENCODER(name) extern const struct encoder encoder_##name;
ENCODERS(ENCODER)
#undef ENCODER

/* Ends with NULL. */
extern const struct encoder *const encoders[];
const struct encoder *encoder_find(const char *name); /* NULL when there is none of that name */
