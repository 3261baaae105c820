/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Parses the text of /proc/PID/maps.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct maps_line {
	uint64_t start, end, offset, inode;
	uint32_t major, minor;
	bool executable;
	const char *path; /* not NUL-terminated; empty for anonymous memory */
	size_t path_len;
};

/* Calls fn for each line, in order. Stops when fn returns non-zero, and returns that value.
 * -EBADMSG when a line is malformed; the lines before it have been reported. */
typedef int maps_fn(const struct maps_line *line, void *ctx);
int maps_parse(const char *text, size_t len, maps_fn *fn, void *ctx);
