/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * RFC 3339 times.
 */
#include "http/timestamp.h"

#include "base/clock.h"

#include <stdio.h>

void timestamp_format(uint64_t unix_ns, char text[TIMESTAMP_BYTES])
{
	time_t seconds = (time_t)(unix_ns / NSEC_PER_SEC);
	char whole[24] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(whole, sizeof(whole), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text, TIMESTAMP_BYTES, "%s.%03uZ", whole,
	         (unsigned int)(unix_ns % NSEC_PER_SEC / NSEC_PER_MSEC));
}
