/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as a request to demangle names, and as an answer. The answer to a request must be valid
 * for it.
 */
#include "names/mangled.h"

#include "demangle/answer.h"
#include "reader/jobs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t asked = 0, answered = 0;
	int err = mangled_count(data, size, &asked);
	struct buf out = BUF_INIT;
	/* A copy, so that a read beyond it is detected. */
	_cleanup_free_ uint8_t *bytes = malloc(size ?: 1);
	struct reading reading = {
		.job = READER_DEMANGLE, .bytes = bytes, .len = size, .max_bytes = 1 << 20};

	if (!bytes)
		return 0;
	if (size)
		memcpy(bytes, data, size);
	if (demangle_answer(&reading, &out) != (err ? -EPROTO : 0))
		abort();
	if (!err && (mangled_count(out.data, out.len, &answered) || answered > asked))
		abort();
	buf_release(&out);
	return 0;
}
