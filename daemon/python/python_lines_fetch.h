/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct lines_fetches - fetches line tables of Python that were too long to be reported from the
 * memory of the processes that have them. This is done on threads that may hang (base/crew.h),
 * because a page that was in memory a moment ago may have to come from a file server now. Loop
 * thread only.
 */
#pragma once

#include "base/crew.h"

#include <stddef.h>

struct lines_fetches;

/* Called once for each fetch that was started, with the report (`told`) and the whole table; NULL:
 * the table is gone, or does not begin like the reported part. */
struct lines_fetched {
	uint32_t owner;
	const void *told;
	size_t told_len;
	const uint8_t *lines;
	size_t lines_len;
};
typedef void lines_fetched_fn(const struct lines_fetched *fetched, void *ctx);

/* `crew` NULL: tables are read synchronously. `execs` as in bpf/execs.h. NULL when out of
 * memory. */
struct lines_fetches *lines_fetches_new(struct crew *crew, const uint64_t *execs,
                                        lines_fetched_fn *fn, void *ctx);
void lines_fetches_free(struct lines_fetches *fetches); /* once the crew is stopped; accepts NULL */

/* What to read from a process as it was at that time. The table must begin with `begin_len` bytes
 * of the report, from offset `begin_at` on. */
struct lines_wanted {
	uint32_t pid;
	uint64_t began_ns, mono_ns; /* from struct python_code */
	uint64_t address;
	size_t len, begin_at, begin_len;
};

/* Starts a fetch. `fetched` has the user and the report, which is copied. -EAGAIN: too many fetches
 * are under way for that user, or for all users, or too many bytes were fetched in this second;
 * -ENOMEM. */
int lines_fetches_start(struct lines_fetches *fetches, const struct lines_wanted *wanted,
                        const struct lines_fetched *fetched);
