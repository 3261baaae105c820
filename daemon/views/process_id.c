/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Distinguishes ids of processes and threads by /proc/ID/status.
 */
#include "views/process_id.h"

#include "base/bounds.h"
#include "base/buf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* /proc/N exists for threads as well; its line Tgid names the process. */
uint32_t process_of(uint32_t id)
{
	_cleanup_(buf_release) struct buf status = BUF_INIT;
	char path[32];
	const char *line;
	unsigned int process = 0;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", id);
	if (buf_read_file(&status, path, MAX_PROC_FILE_BYTES) < 0)
		return 0;
	line = strstr(buf_text(&status), "\nTgid:");
	if (!line || sscanf(line, "\nTgid: %u", &process) != 1)
		return 0;
	return process;
}
