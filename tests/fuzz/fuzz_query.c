/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as the query of /profile, /heap and /timeline: it is read or refused, and a refusal is
 * one printable line.
 */
#include "api/heap_query.h"
#include "api/profile_query.h"
#include "base/clock.h"
#include "views/cpu_timeline.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int read_profile(const struct query *query, struct refusal *refusal)
{
	static const struct profile_bounds bounds = {600 * NSEC_PER_SEC, MAX_CAPTURE_SECONDS};
	struct profile_query profile;
	int err = query_check(query, profile_parameters, refusal);

	if (!err)
		err = profile_query_read(query, 1800000000 * NSEC_PER_SEC, &bounds, &profile,
		                         refusal);
	if (!err && (!profile.format.encoder || profile.ask.selection.pid_count > MAX_QUERY_VALUES))
		abort();
	return err;
}

static int read_heap(const struct query *query, struct refusal *refusal)
{
	struct heap_query heap;
	int err = query_check(query, heap_parameters, refusal);

	if (!err)
		err = heap_query_read(query, MAX_CAPTURE_SECONDS, &heap, refusal);
	if (!err && (!heap.format.encoder || !heap.ask.pid || !heap.ask.rate_bytes ||
	             !heap.ask.length_ns || !(heap.ask.budget > 0)))
		abort();
	return err;
}

static int read_timeline(const struct query *query, struct refusal *refusal)
{
	struct cpu_timeline_query ask;
	int err = query_check(query, cpu_timeline_parameters, refusal);

	if (!err)
		err = cpu_timeline_query_read(query, 600 * NSEC_PER_SEC, &ask, refusal);
	if (!err && ask.length_ns / ask.step_ns >= MAX_TIMELINE_STEPS)
		abort();
	return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int (*const readers[])(const struct query *,
	                              struct refusal *) = {read_profile, read_heap, read_timeline};
	_cleanup_(query_release) struct query query = {0};
	struct refusal refusal = {0};
	bool parsed = query_parse((const char *)data, size, &query, &refusal) == 0;

	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
		int err = parsed ? readers[i](&query, &refusal) : -1;

		if (err && (!refusal.status || !refusal.text[0] || strpbrk(refusal.text, "\r\n")))
			abort();
	}
	return 0;
}
