/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Times in the form in which people and from=/to= write them.
 */
#pragma once

#include <stdint.h>

enum { TIMESTAMP_BYTES = 40 };

/* RFC 3339 in UTC with milliseconds: "2026-11-21T12:00:00.000Z". */
void timestamp_format(uint64_t unix_ns, char text[TIMESTAMP_BYTES]);
