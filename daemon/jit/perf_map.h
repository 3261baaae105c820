/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The text of /tmp/perf-PID.map, to which programs append a line for each piece of code that they
 * generate: "START SIZE NAME", both numbers hexadecimal, and the name is the rest of the line.
 * Format: Linux, tools/perf/Documentation/jit-interface.txt. Pure.
 */
#pragma once

#include "base/text.h"

struct perf_map_line {
	uint64_t start, size;
	struct text name; /* any bytes but a newline; not empty */
};

/* Takes complete lines off the text until one describes code; others are skipped. False: no
 * complete line is left, and `rest` is what the last newline is followed by. */
bool perf_map_next(struct text *rest, struct perf_map_line *ret_line);
