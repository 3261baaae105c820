/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as an answer of the reader process. The frames read from it must be complete, and the
 * same when they are written and read again.
 */
#include "names/wire.h"

#include "base/bounds.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	struct wire_frames *again; /* NULL: count only */
	size_t count, last_index, depth, max;
	uint64_t sum;
};

static size_t cut_len(const char *string, size_t max)
{
	return string ? strnlen(string, max) : 0;
}

static int see(size_t index, const struct source_frame *frame, void *ctx)
{
	struct seen *seen = ctx;

	if (index >= seen->max || index < seen->last_index)
		abort();
	seen->depth = seen->count++ && index == seen->last_index ? seen->depth + 1 : 1;
	if (seen->depth > MAX_INLINE_DEPTH)
		abort();
	seen->last_index = index;
	seen->sum += index + cut_len(frame->function, MAX_SYMBOL_NAME_BYTES) +
	             cut_len(frame->file, MAX_PATH_BYTES) + frame->line + frame->start_line +
	             frame->function_address;
	return seen->again ? wire_frames_add(seen->again, index, frame) : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;

	_cleanup_(wire_frames_freep) struct wire_frames *frames = wire_frames_new();
	struct seen first = {.again = frames, .max = data[0]}, second = {.max = data[0]};
	struct buf bytes = BUF_INIT;

	if (frames && wire_frames_read(data + 1, size - 1, data[0], see, &first) == 0) {
		if (wire_frames_write(frames, &bytes) ||
		    wire_frames_read(bytes.data, bytes.len, data[0], see, &second) ||
		    first.count != second.count || first.sum != second.sum)
			abort();
	} else if (first.count) {
		abort();
	}
	buf_release(&bytes);
	return 0;
}
