/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The text of /proc/PID/maps. Pure; any thread.
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

/* Removes the lines of mappings that are not executable, and returns the new length. A last line
 * without a newline may go on in the next piece of the file, and stays: the last *ret_rest bytes.
 */
size_t maps_leave_executable(char *text, size_t len, size_t *ret_rest);
