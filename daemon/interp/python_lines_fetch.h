/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct lines_fetches - line tables of Python that were too long to be told, read from the
 * processes that have them: on threads that may hang (base/crew.h), for a page that was there a
 * moment ago may be one of a file server now. Loop thread only.
 */
#pragma once

#include "base/crew.h"

#include <stddef.h>

struct lines_fetches;

/* What was told, and the whole table; NULL: it is not there, or begins in another way than what was
 * told of it. Told of each that was started. */
struct lines_fetched {
	uint32_t owner;
	const void *told;
	size_t told_len;
	const uint8_t *lines;
	size_t lines_len;
};
typedef void lines_fetched_fn(const struct lines_fetched *fetched, void *ctx);

/* `crew` NULL: it is read at once. `execs` as bpf/execs.h has them. NULL when out of memory. */
struct lines_fetches *lines_fetches_new(struct crew *crew, const uint64_t *execs,
                                        lines_fetched_fn *fn, void *ctx);
void lines_fetches_free(struct lines_fetches *fetches); /* once the crew is stopped; takes NULL */

/* What is to be read of a process, as it was at that time, and what it has to begin with, which is
 * at that offset of what was told. */
struct lines_wanted {
	uint32_t pid;
	uint64_t began_ns, mono_ns; /* of struct python_code */
	uint64_t address;
	size_t len, begin_at, begin_len;
};

/* `fetched` has the user and what was told, which is copied. -EAGAIN: too much is being read for
 * that user, or for all; -ENOMEM. */
int lines_fetches_start(struct lines_fetches *fetches, const struct lines_wanted *wanted,
                        const struct lines_fetched *fetched);
