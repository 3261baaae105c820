/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "proc/parent.h"

#include "base/buf.h"
#include "object/stat_fields.h"

#include <stdio.h>

enum { MAX_STAT_BYTES = 4096 };

uint32_t parent_parse(const char *bytes, size_t len)
{
	uint64_t parent;

	return stat_number(bytes, len, STAT_PARENT, &parent) && parent <= INT32_MAX
	               ? (uint32_t)parent
	               : 0;
}

uint32_t parent_read(uint32_t pid)
{
	_cleanup_(buf_release) struct buf stat = BUF_INIT;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	if (buf_read_file(&stat, path, MAX_STAT_BYTES))
		return 0;
	return parent_parse(buf_text(&stat), stat.len);
}
