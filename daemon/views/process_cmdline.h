/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The command line of a process, from /proc/PID/cmdline. It is memory of the process, which the
 * process may have put into a file of a file system that does not answer, so it is read aside
 * (base/aside.h). On the lane of the list.
 */
#pragma once

#include "base/aside.h"

#include <jansson.h>
#include <stddef.h>

struct cmdline_call;

/* For the rows of one list. Initialize the second member to NULL. */
struct cmdline_reader {
	struct aside *aside;
	struct cmdline_call *spare;
};

/* Up to `max` bytes, at most MAX_CMDLINE_BYTES, with blanks between words and a mark where it was
 * cut. JSON's null when it could not be read soon; NULL when out of memory. */
json_t *cmdline_read(struct cmdline_reader *reader, uint32_t pid, size_t max);
void cmdline_reader_release(struct cmdline_reader *reader);
