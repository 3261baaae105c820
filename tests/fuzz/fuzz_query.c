/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as the query of /profile: it is read or refused, and a refusal is one printable line.
 */
#include "base/clock.h"
#include "http/profile_query.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(query_release) struct query query = {0};
	struct profile_query profile;
	struct refusal refusal = {0};
	int err;

	err = query_parse((const char *)data, size, &query, &refusal);
	if (!err)
		err = query_check(&query, profile_parameters, &refusal);
	if (!err)
		err = profile_query_read(&query, 1800000000 * NSEC_PER_SEC, 600 * NSEC_PER_SEC,
		                         &profile, &refusal);
	if (err && (!refusal.status || !refusal.text[0] || strpbrk(refusal.text, "\r\n")))
		abort();
	if (!err && (!profile.encoder || profile.selection.pid_count > MAX_QUERY_VALUES))
		abort();
	return 0;
}
