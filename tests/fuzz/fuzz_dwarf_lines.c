/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as a file with DWARF, which is also its own supplement: units, DIEs and line tables of
 * addresses in all parts of it. Errors inside libdw show here, too; because of them, DWARF is read
 * in the reader process.
 */
#include "names/dwarf_lines.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ADDRESSES = 200 };

struct seen {
	size_t index, depth, bytes;
};

static int look(size_t index, const struct source_frame *frame, void *ctx)
{
	struct seen *seen = ctx;

	if (index < seen->index || index >= ADDRESSES)
		abort();
	seen->depth = index == seen->index ? seen->depth + 1 : 1;
	seen->index = index;
	if (seen->depth > MAX_INLINE_DEPTH)
		abort();
	seen->bytes += frame->function ? strlen(frame->function) : 0;
	seen->bytes += frame->file ? strlen(frame->file) : 0;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t addresses[ADDRESSES];
	struct seen seen = {0};

	_cleanup_close_ int fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		return 0;
	/* 0 to 0x1800, then near the usual link address of executables. */
	for (size_t i = 0; i < ADDRESSES; i++)
		addresses[i] = i < ADDRESSES / 2 ? i * 0x3d : 0x400000 + (i - ADDRESSES / 2) * 7;
	_cleanup_(dwarf_lines_freep) struct dwarf_lines *lines = NULL;
	if (dwarf_lines_open(fd, size & 1 ? fd : -1, &lines) < 0)
		return 0;
	dwarf_lines_find(lines, addresses, ADDRESSES, look, &seen);
	seen = (struct seen){.bytes = dwarf_lines_memory(lines)};
	dwarf_lines_find(lines, addresses, ADDRESSES, look, &seen);
	return 0;
}
