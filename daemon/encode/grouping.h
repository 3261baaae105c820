/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct groups - the samples of a profile added up by function, line, file, binary, process or
 * thread. Flat counts samples in a row itself. Cum counts samples with the row on their call path,
 * once per sample however often it recurs there. Rows are distinguished by name, as in pprof.
 * Private to encode/.
 */
#pragma once

#include "encode/encoder.h"
#include "profile/builder.h"

struct group {
	const char *name; /* any bytes */
	const char *file; /* of a source line; otherwise NULL */
	uint32_t line;
	uint32_t last_sample; /* that was added to cum */
	uint64_t flat, cum;
};

struct groups {
	struct builder *names; /* its strings are the rows' names */
	struct group *rows;    /* in no order; some are on no path */
	uint32_t count;
};

/* Adds up values[value]. 0 or -ENOMEM. */
int groups_count(const struct profile *profile, enum grouping by, uint32_t value,
                 struct groups *ret_groups);
void groups_release(struct groups *groups);
