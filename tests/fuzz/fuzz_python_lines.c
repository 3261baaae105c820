/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as a line table of each version: a line is none or a positive int, and a truncated
 * table gives the same line or none.
 */
#include "cpython/python_lines.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct head {
	uint32_t first_line, offset;
	uint16_t cut;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct head head;

	if (size < sizeof(head))
		return 0;
	memcpy(&head, data, sizeof(head));
	data += sizeof(head);
	size -= sizeof(head);
	for (uint32_t version = 0x0308; version <= 0x030e; version++) {
		/* Of the old tables, only those of odd length are known to be truncated. */
		size_t cut = version < 0x030a ? head.cut | 1 : head.cut;
		struct line_place start = line_start(head.first_line);
		uint32_t line = python_line(version, data, size, start, head.offset);
		uint32_t early =
			python_line(version, data, cut < size ? cut : size, start, head.offset);

		if (line > INT_MAX)
			abort();
		/* The whole table may itself be truncated. */
		if (early && line && early != line)
			abort();
	}
	return 0;
}
